import Glibc
import TestSupport
import Testing

@testable import Warehouse

@Suite struct DamageTests {
    private let fixture: StorageFixture

    init() throws { fixture = try StorageFixture() }

    @Test("W19: opening removes what interrupted work left, and nothing that a project names")
    func sweep() throws {
        let id = try fixture.storage().project(steps: 3)
        let before = try Observation(fixture.storage())
        try Files.write("x", to: "\(fixture.base)/.staging/\(ProjectID())/data/userData")
        #expect(chmod("\(fixture.base)/.staging", 0o700) == 0)
        try Files.write("x", to: "\(fixture.base)/.staging/file")
        let orphan = StepID()
        try Files.write("x", to: "\(fixture.base)/\(id)/steps/\(orphan)/data/userData")
        try Files.makeFolder("\(fixture.base)/\(ProjectID())")
        try Files.write("x", to: "\(fixture.base)/\(id)/.data.old/metadata")
        try Files.write("x", to: "\(fixture.base)/\(id)/.data.new/metadata")
        try Files.write("x", to: "\(fixture.base)/\(id)/steps/note")

        // A folder that no project names is not a step, before and after the sweep.
        let early = ProjectStorage(
            base: fixture.base, bundleID: "x",
            disk: Disk { call, path throws(SystemCallError) in
                if call == .flock { throw SystemCallError(call: "flock", path: path.text, code: EWOULDBLOCK) }
            })
        let error = failure { () throws(ProjectError) in try early.fetchStep(orphan, of: id) }
        #expect(error?.underlying as? ProjectProblem == .noSuchStep)
        #expect(try fixture.stepFolders(of: id).contains("\(orphan)"))

        let storage = fixture.storage()
        #expect(try Observation(storage) == before)
        #expect(try fixture.leftovers(storage) == ["\(id)/steps/note"])
    }

    @Test("W19: steps stay when the list that would name them was cut off, and nothing is swept beside another writer")
    func doubt() throws {
        let storage = fixture.storage()
        let id = try storage.project(steps: 3)
        try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 0))
        let list = "\(fixture.base)/\(id)/data/stepIDs"
        let bytes = try Files.read(list)
        try Files.write(bytes[..<40], to: list)
        #expect(try fixture.storage().stepIDs(of: id).count == 2)
        #expect(try fixture.stepFolders(of: id).count == 3)
        try Files.write(bytes, to: list)

        let orphan = "\(fixture.base)/\(id)/steps/\(StepID())"
        try Files.makeFolder(orphan)
        let holder = open("\(fixture.base)/.lock", O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        _ = fixture.storage()
        #expect(Files.exists(orphan))
        close(holder)
        _ = fixture.storage()
        #expect(!Files.exists(orphan))
    }

    @Test(
        "W15: damaged data and data of a newer version are errors that say so, change nothing, and hide no other project"
    )
    func damage() throws {
        let storage = fixture.storage()
        let (id, other) = (try storage.project(steps: 2), try storage.createProject())
        let (metadata, list) = ("\(fixture.base)/\(id)/data/metadata", "\(fixture.base)/\(id)/data/stepIDs")
        let (whole, ids) = (try Files.text(metadata), try Files.read(list))
        let wounds: [(String, [UInt8])] = [
            (metadata, []), (metadata, Array("{}".utf8)), (metadata, Array("\u{0}".utf8)),
            (metadata, Array(whole.replacing("\"stepCursor\":2", with: "\"stepCursor\":3").utf8)),
            (metadata, Array(whole.replacing("\"stepCursor\":2", with: "\"stepCursor\":-1").utf8)),
            (metadata, Array(whole.replacing("\"format\":1", with: "\"format\":2").utf8)),
            (list, []), (list, Array(ids[..<20])),
        ]
        for (file, bytes) in wounds {
            let good = try Files.read(file)
            try Files.write(bytes, to: file)
            let before = try fixture.tree()
            let fetch = failure { () throws(ProjectError) in try storage.fetchProject(id) }
            #expect(fetch?.code == .fetchFailed)
            #expect(fetch?.underlying is ProjectProblem)
            let update = failure { () throws(ProjectError) in
                try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: [1]))
            }
            #expect(update?.code == .writeFailed)
            #expect(update?.underlying is ProjectProblem)
            let reopened = fixture.storage()
            #expect(try Set(reopened.projectIDs()) == [id, other])
            #expect(try fixture.tree() == before)
            try Files.write(good, to: file)
        }
        #expect(try storage.fetchProject(id, .stepIDs).stepIDs?.count == 2)
        Files.remove(list)
        #expect(failure { () throws(ProjectError) in try storage.fetchProject(id) }?.code == .fetchFailed)
        try storage.deleteProject(id)
        #expect(try storage.projectIDs() == [other])
    }
}
