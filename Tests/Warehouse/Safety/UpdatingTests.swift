import Glibc
import TestSupport
import Testing

@testable import Warehouse

@Suite struct UpdatingTests {
    private let fixture: StorageFixture
    private let storage: ProjectStorage

    init() throws {
        fixture = try StorageFixture()
        storage = fixture.storage()
    }

    @Test("W08: the cursor is measured by the steps that there will be, whatever else was asked to be deleted")
    func cursor() throws {
        let id = try storage.project(steps: 3)
        let steps = try storage.stepIDs(of: id)
        // Unknown and repeated ids delete nothing more.
        try storage.updateProject(
            ProjectUpdateRequest(
                projectID: id, stepCursor: 2, stepIDsToDelete: [steps[2], steps[2], StepID(), StepID(), StepID()]))
        #expect(try storage.fetchProject(id, .stepIDs).stepIDs == Array(steps[..<2]))
        let before = try fixture.tree()
        let requests = [
            ProjectUpdateRequest(projectID: id, stepCursor: 3),
            ProjectUpdateRequest(projectID: id, stepCursor: -1),
            ProjectUpdateRequest(projectID: id, stepCursor: .max, stepIDsToDelete: (0..<9).map { _ in StepID() }),
            ProjectUpdateRequest(projectID: id, stepCursor: 2, stepIDsToDelete: [steps[0]]),
            // If the request has no cursor, the present cursor must fit the remaining steps.
            ProjectUpdateRequest(projectID: id, stepIDsToDelete: [steps[0]]),
            ProjectUpdateRequest(
                projectID: id, stepCursor: 4, stepsToAdd: [StepContent(assetsSource: try fixture.source())]),
        ]
        for request in requests {
            let error = failure { () throws(ProjectError) in try storage.updateProject(request) }
            #expect(error?.code == .invalidArgument)
            guard case .cursorOutOfRange = error?.underlying as? ProjectProblem else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(try fixture.tree() == before)
        }
    }

    @Test("W09: undo, redo and adding a step walk along the steps, and an added step takes the place of those undone")
    func walk() throws {
        let id = try storage.project(steps: 3)
        let steps = try storage.stepIDs(of: id)
        func cursor() throws -> Int { try storage.fetchProject(id).stepCursor }
        for expected in [2, 1, 0] {
            #expect(try storage.updateProject(id, []) { ProjectUpdateRequest.undo($0) } == [])
            #expect(try cursor() == expected)
        }
        #expect(try storage.updateProject(id, []) { ProjectUpdateRequest.undo($0) } == nil)
        #expect(try storage.updateProject(id, .stepIDs) { ProjectUpdateRequest.redo($0) } == [])
        #expect(try cursor() == 1)
        let added = try storage.updateProject(id, .stepIDs) { .addStep(StepContent(userData: [9]), to: $0) }
        #expect(added?.count == 1)
        let now = try storage.fetchProject(id, .stepIDs)
        #expect(try now.stepIDs == [steps[0]] + #require(added) && now.stepCursor == 2)
        #expect(try storage.fetchStep(#require(now.stepIDs?.last), of: id).userData == [9])
        #expect(try fixture.stepFolders(of: id).count == 2)
        #expect(try storage.updateProject(id, .stepIDs) { ProjectUpdateRequest.redo($0) } == nil)
    }

    @Test("W09: steps are added behind the applied ones, and what was asked to be deleted goes")
    func insertion() throws {
        let id = try storage.project(steps: 3)
        let steps = try storage.stepIDs(of: id)
        try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 1))
        try storage.updateProject(
            ProjectUpdateRequest(
                projectID: id, stepIDsToDelete: [steps[0]],
                stepsToAdd: [StepContent(userData: [7]), StepContent(userData: [8])]))
        let userData = try storage.stepIDs(of: id).map { try storage.fetchStep($0, of: id).userData }
        #expect(userData == [[7], [8], [1], [2]])
    }

    @Test("W10: user data are any bytes, none and 8 MB of them too, and nil leaves them")
    func userData() throws {
        let id = try storage.createProject()
        let large = (0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        for bytes in [large, [], [0], Array("{\"naïve\": \"%\"}".utf8), [0xff, 0xfe, 0]] {
            try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: bytes))
            #expect(try storage.fetchProject(id, .userData).userData == bytes)
            try storage.updateProject(ProjectUpdateRequest(projectID: id, stepCursor: 0))
            #expect(try fixture.storage().fetchProject(id, .userData).userData == bytes)
        }
        try storage.addSteps([StepContent(userData: large)], to: id)
        #expect(try storage.fetchStep(#require(storage.stepIDs(of: id).first), of: id).userData == large)
    }

    @Test(
        "W11: the source of assets is gone only after success, the assets' folder is always there, and edits in it date nothing"
    )
    func assets() throws {
        let id = try storage.createProject()
        let source = try fixture.source(["100%/né": "1", "empty": ""])
        try Files.makeFolder("\(source)/folder/empty")
        #expect(symlink("../100%", "\(source)/folder/link") == 0)
        #expect(chmod("\(source)/empty", 0o440) == 0)
        let before = try fixture.tree()
        let bad = ProjectUpdateRequest(projectID: id, stepCursor: 3, stepsToAdd: [StepContent(assetsSource: source)])
        #expect(failure { () throws(ProjectError) in try storage.updateProject(bad) } != nil)
        #expect(try Observation.files(source).count == 2)
        #expect(try fixture.tree() == before)

        let step = try storage.fetchStep(
            #require(storage.addSteps([StepContent(assetsSource: source)], to: id).first), of: id)
        #expect(!Files.exists(source))
        #expect(try Observation.files(step.assets) == ["100%/né": [0x31], "empty": []])
        #expect(Files.isFolder("\(step.assets)/folder/empty"))
        #expect(try Files.text("\(step.assets)/folder/link/né") == "1")
        var info = stat()
        #expect(stat("\(step.assets)/empty", &info) == 0 && info.st_mode & 0o777 == 0o440)

        let project = try storage.fetchProject(id)
        try Files.write("more", to: "\(project.assets)/more")
        Files.remove("\(step.assets)/empty")
        #expect(try fixture.storage().fetchProject(id) == project)
    }

    @Test("W11: names that are no UTF-8 are copied as they are")
    func foreignNames() throws {
        let id = try storage.createProject()
        let source = try fixture.source([:])
        let path = Path(source).entry([CChar(bitPattern: 0xe9), 0x74, CChar(bitPattern: 0xe9)])
        let file = open(path.bytes, O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0)
        close(file)
        let step = try storage.fetchStep(
            #require(storage.addSteps([StepContent(assetsSource: source)], to: id).first), of: id)
        #expect(try Disk().names(in: Path(step.assets)) == [[CChar(bitPattern: 0xe9), 0x74, CChar(bitPattern: 0xe9)]])
        #expect(!Files.exists(source))
    }

    @Test(
        "W07: a source in the storage, around it, with links that leave it, or that is no folder is refused and stays")
    func refusedSources() throws {
        let id = try storage.project(steps: 1)
        let assets = try storage.fetchProject(id).assets
        try Files.makeFolder("\(assets)/inner")
        try Files.write("x", to: "\(fixture.folder)/file")
        let plain = try fixture.source()
        #expect(symlink(plain, "\(fixture.folder)/link") == 0)
        func linked(_ target: String, at name: String) throws -> String {
            let source = try fixture.source(["a/b/c": "x"])
            #expect(symlink(target, "\(source)/\(name)") == 0)
            return source
        }
        let withUp = try linked("../..", at: "a/b/up")
        #expect(symlink("a/b/up/..", "\(withUp)/out") == 0)
        let pipe = try fixture.source()
        #expect(mkfifo("\(pipe)/pipe", 0o600) == 0)
        let sources = [
            assets, "\(assets)/inner", fixture.base, fixture.folder, "/", "\(fixture.folder)/file",
            "\(fixture.folder)/link",
            "\(fixture.folder)/missing", try linked("/etc", at: "absolute"), try linked("..", at: "up"),
            try linked("../../..", at: "a/b/far"), try linked("a/../../x", at: "detour"), withUp, pipe,
        ]
        let before = try fixture.tree()
        for source in sources {
            let error = failure { () throws(ProjectError) in
                try storage.updateProject(
                    ProjectUpdateRequest(
                        projectID: id, stepsToAdd: [StepContent(), StepContent(assetsSource: source)]))
            }
            #expect(error?.code == .writeFailed, "\(source)")
            guard case .badSource = error?.underlying as? ProjectProblem else {
                Issue.record("\(source): \(String(describing: error))")
                continue
            }
            #expect(try fixture.tree() == before, "\(source)")
            #expect(try fixture.stepFolders(of: id).count == 1, "\(source)")
        }
        #expect(try Files.names(in: plain) == ["thumbnail.png"])
        #expect(try Files.names(in: pipe) == ["pipe", "thumbnail.png"])
        #expect(try storage.stepIDs(of: id).count == 1)
    }
}
