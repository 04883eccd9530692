import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// Tests of projects whose files contain numbers that no project has.
@Suite struct BoundaryNumberTests {
    private let fixture: StorageFixture

    init() throws { fixture = try StorageFixture() }

    @Test("H12: metadata of any numbers are read or refused, and the storage goes on", arguments: BoundaryNumbers.texts)
    func metadata(_ text: String) throws {
        let storage = fixture.storage()
        let id = try storage.project(steps: 2)
        for member in ["format", "stepCursor", "created", "modified"] {
            var members = ["format": "1", "stepCursor": "1", "created": "1", "modified": "1", "bundleID": "\"x\""]
            members[member] = text
            let json = "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
            try Files.write(json, to: "\(fixture.base)/\(id)/data/metadata")
            _ = try? storage.fetchProject(id, .all)
            _ = try? storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 2))
        }
        #expect(try storage.project(steps: 1) != id)
    }

    @Test("H12: a sparse file that says it is larger than anything is refused, and sizes add up to the largest number")
    func sparse() throws {
        let storage = fixture.storage()
        let id = try storage.project(steps: 1)
        for name in ["userData", "stepIDs"] {
            let path = "\(fixture.base)/\(id)/data/\(name)"
            let bytes = Files.exists(path) ? try Files.read(path) : []
            // The file gets the largest of these sizes that the file system allows.
            try Files.write(bytes, to: path)
            #expect([1 << 62, 1 << 43].contains { truncate(path, $0) == 0 })
            #expect(failure { () throws(ProjectError) in try storage.fetchProject(id, .all) } != nil, "\(name)")
            #expect(try storage.size(of: id) > 1 << 42)
            try Files.write(bytes, to: path)
        }
        #expect(try storage.fetchProject(id, .all).stepIDs?.count == 1)
        #expect(UInt64.max.adding(1) == .max && Int64.min.adding(-1) == .min)
        for seconds in BoundaryNumbers.integers {
            let date = ProjectDate(timespec(tv_sec: Int(seconds), tv_nsec: 999_999_999))
            #expect((date.nanoseconds < 0) == (seconds < 0))
        }
    }
}
