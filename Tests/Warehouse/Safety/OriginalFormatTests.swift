import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// Tests of a project in the layout of the original system.
@Suite struct OriginalFormatTests {
    private let fixture: StorageFixture
    private let id = ProjectID()
    private let steps = [StepID(), StepID()]

    /// A binary property list that holds a dictionary with the `bundleID` `com.example.original` and the `stepCursor`
    /// 1.
    private static let metadata = Array(
        Data(
            base64Encoded: """
                YnBsaXN0MDDSAQIDBFhidW5kbGVJRFpzdGVwQ3Vyc29yXxAUY29tLmV4YW1wbGUub3JpZ2luYWwQAQgNFiE4\
                AAAAAAAAAQEAAAAAAAAA\
                BQAAAAAAAAAAAAAAAAAAADo=
                """) ?? Data())

    private var project: String { "\(fixture.base)/\(id)" }

    init() throws {
        fixture = try StorageFixture()
        let list = StepIDList.encoded(steps)
        try Files.write(Self.metadata, to: "\(project)/data/matadata")
        try Files.write(list + [1, 2, 3], to: "\(project)/data/stepIDs")
        try Files.write([7, 7], to: "\(project)/data/userData")
        try Files.write("shared", to: "\(project)/assets/shared")
        for (index, step) in steps.enumerated() {
            try Files.write([UInt8(index)], to: "\(project)/steps/\(step)/data/userData")
            try Files.write("\(index)", to: "\(project)/steps/\(step)/assets/thumbnail")
        }
        var times = [timespec(tv_sec: 1_400_000_000, tv_nsec: 5), timespec(tv_sec: 1_500_000_000, tv_nsec: 6)]
        #expect(utimensat(AT_FDCWD, project, &times, 0) == 0)
    }

    private let modified = ProjectDate(nanoseconds: 1_500_000_000_000_000_006)

    @Test("W21: a project in the original's layout is read as it is, and reading does not change it")
    func read() throws {
        let storage = fixture.storage()
        let before = try fixture.tree()
        #expect(try storage.projectIDs() == [id])
        let project = try storage.fetchProject(id, .all)
        #expect(project.bundleID == "com.example.original")
        #expect(project.stepCursor == 1)
        #expect(project.stepIDs == steps)
        #expect(project.userData == [7, 7])
        #expect(project.modificationDate == modified)
        #expect(project.creationDate <= modified)
        #expect(try storage.fetchStep(steps[1], of: id).userData == [1])
        #expect(try fixture.tree() == before)
    }

    @Test(
        "W21: the first write brings it to today's layout and keeps the old metadata, as do later ones and a duplicate")
    func migrate() throws {
        let storage = fixture.storage()
        let before = try storage.fetchProject(id, .all)
        try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 2))
        #expect(
            try Files.names(in: "\(project)/data") == ["matadata.old", "metadata", "stepIDs", "userData"])
        #expect(try Files.read("\(project)/data/matadata.old") == Self.metadata)
        var expected = before
        expected.stepCursor = 2
        var now = try storage.fetchProject(id, .all)
        #expect(now.modificationDate > before.modificationDate)
        now.modificationDate = before.modificationDate
        #expect(now == expected)

        try storage.updateProject(id, .stepIDs) { .addStep(StepContent(userData: [2]), to: $0) }
        let copy = try storage.duplicateProject(id)
        for id in [id, copy] {
            #expect(try Files.read("\(fixture.base)/\(id)/data/matadata.old") == Self.metadata)
            #expect(try storage.fetchProject(id, .stepIDs).stepIDs?.prefix(2) == steps[...])
        }
        #expect(try storage.fetchProject(id).creationDate == before.creationDate)
        try storage.deleteProject(id)
        #expect(try storage.projectIDs() == [copy])
    }

    @Test("W21: wherever the first write is stopped, the project is in the old layout or in today's, whole")
    func stopped() throws {
        let faults = DiskFaults()
        let storage = fixture.storage(faults: faults)
        let before = try storage.fetchProject(id, .all)
        var number = 0
        while try storage.fetchProject(id).stepCursor == 1 {
            faults.arm(stoppingAt: number)
            _ = failure { () throws(ProjectError) in
                try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 2))
            }
            faults.disarm()
            let now = try fixture.storage().fetchProject(id, .all)
            #expect(now.stepIDs == steps && now.userData == [7, 7] && now.bundleID == before.bundleID)
            #expect(now.stepCursor == 2 || now == before)
            number += 1
        }
        #expect(number > 10)
    }

    @Test("W21: metadata that are no property list are an error, and stay as they are")
    func damaged() throws {
        try Files.write("no list", to: "\(project)/data/matadata")
        let storage = fixture.storage()
        let before = try fixture.tree()
        let update = failure { () throws(ProjectError) in
            try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 0))
        }
        #expect(update?.code == .writeFailed)
        guard case .damaged = update?.underlying as? ProjectProblem else {
            Issue.record("\(String(describing: update))")
            return
        }
        #expect(try fixture.tree() == before)
    }
}
