import Glibc
import TestSupport
import Testing

@testable import Warehouse

@Suite struct ListingTests {
    private let fixture: StorageFixture

    init() throws { fixture = try StorageFixture() }

    @Test("W01: a thousand projects are created, listed and fetched")
    func thousand() throws {
        let fixture = try StorageFixture.$root.withValue(StorageFixture.memory) { try StorageFixture() }
        let storage = fixture.storage()
        let ids = try (0..<1_000).map { _ in try storage.createProject() }
        #expect(try Set(fixture.storage().projectIDs()) == Set(ids))
        #expect(try ids.allSatisfy { try storage.fetchProject($0, .all).stepIDs == [] })
    }

    @Test("W02: projects with equal dates come in the same order every time, by both keys and in both directions")
    func stable() throws {
        let clock = SetClock()
        let storage = fixture.storage(clock: clock)
        var ids: [ProjectID] = []
        for second in [1, 0, 0, 1, 0, 1] as [Int64] {
            clock.date = ProjectDate(nanoseconds: second)
            ids.append(try storage.createProject())
        }
        let (late, early) = ([ids[0], ids[3], ids[5]].sorted(), [ids[1], ids[2], ids[4]].sorted())
        for key in ProjectStorage.SortKey.allCases {
            for _ in 0..<5 {
                #expect(try storage.projectIDs(sortedBy: key, descending: true) == late + early)
                #expect(try storage.projectIDs(sortedBy: key, descending: false) == early + late)
            }
        }
    }

    @Test("W03: hidden, foreign and half-deleted entries are never listed, and are not touched")
    func foreign() throws {
        let storage = fixture.storage()
        let id = try storage.createProject()
        let half = "\(fixture.base)/\(ProjectID())"
        try Files.write("x", to: "\(half)/assets/picture")
        try Files.makeFolder("\(fixture.base)/.hidden/data")
        try Files.makeFolder("\(fixture.base)/no project/data")
        try Files.write("x", to: "\(fixture.base)/\(ProjectID())")
        try Files.write("x", to: "\(fixture.base)/\("\(ProjectID())".lowercased())/data/metadata")
        try Files.makeFolder("\(fixture.base)/\(ProjectID())0")
        #expect(symlink("/", "\(fixture.base)/\(ProjectID())") == 0)
        let entries = try Files.names(in: fixture.base)
        for storage in [storage, fixture.storage()] {
            #expect(try storage.projectIDs() == [id])
            #expect(try storage.projectIDs(sortedBy: .modificationDate) == [id])
        }
        #expect(try Files.names(in: fixture.base) == entries)
        #expect(try Files.text("\(half)/assets/picture") == "x")
    }

    @Test("W16: the sizes of a project and of the storage are the sums of their files' sizes")
    func sizes() throws {
        let storage = fixture.storage()
        let id = try storage.createProject()
        try storage.addSteps(
            [
                StepContent(
                    userData: [UInt8](repeating: 1, count: 5_000), assetsSource: fixture.source(["a/b": "12345"]))
            ],
            to: id)
        try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: [1, 2, 3]))
        try Files.write([UInt8](repeating: 0, count: 70_000), to: "\(storage.fetchProject(id).assets)/deep/er/large")
        let other = try storage.createProject()
        func sum(_ folder: String) throws -> UInt64 {
            try UInt64(Files.filesBelow(folder).reduce(0) { try $0 + Files.read("\(folder)/\($1)").count })
        }
        for project in [id, other] { #expect(try storage.size(of: project) == sum("\(fixture.base)/\(project)")) }
        #expect(try storage.size(of: id) > 75_000)
        #expect(try storage.storageSize() == sum(fixture.base))
        #expect(try storage.storageSize() == storage.size(of: id) + storage.size(of: other))
        let unknown = failure { () throws(ProjectError) in try storage.size(of: ProjectID()) }
        #expect(unknown?.code == .calculateSizeFailed)
        #expect(unknown?.underlying as? ProjectProblem == .noSuchProject)
        Files.remove(fixture.base)
        let gone = failure { () throws(ProjectError) in try storage.storageSize() }
        #expect(gone?.code == .calculateSizeFailed)
    }
}
