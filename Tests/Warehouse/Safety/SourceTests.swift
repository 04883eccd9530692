import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// Tests of the sources of steps' assets, and of what the storage does with the sources.
@Suite struct SourceTests {
    private let fixture: StorageFixture
    private let storage: ProjectStorage
    private let id: ProjectID

    init() throws {
        fixture = try StorageFixture()
        storage = fixture.storage()
        id = try storage.project(steps: 1)
    }

    private func add(_ source: String, _ use: StepContent.SourceUse) throws(ProjectError) -> Step {
        let step = StepContent(assetsSource: source, sourceUse: use)
        let ids = try storage.updateProject(ProjectUpdateRequest(projectID: id, stepsToAdd: [step]))
        return try storage.fetchStep(ids.first ?? StepID(), of: id)
    }

    private func inode(_ path: String) -> ino_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_ino : 0
    }

    @Test("W11: a source that is copied stays, with all that is in it, and shares no file with the step")
    func copied() throws {
        let source = try fixture.source(["a/picture": "1", "b": "2"])
        let step = try add(source, .copied)
        #expect(try Observation.files(source) == ["a/picture": [0x31], "b": [0x32]])
        #expect(try Observation.files(step.assets) == Observation.files(source))
        #expect(inode("\(source)/b") != inode("\(step.assets)/b"))
    }

    @Test("W11: a source that is moved is the same folder, and what was written to it until then is in it")
    func moved() throws {
        let source = try fixture.source(["a/picture": "1"])
        let (folder, file) = (inode(source), open("\(source)/a/picture", O_WRONLY | O_APPEND))
        let step = try add("\(source)/", .moved)
        #expect(!Files.exists(source) && inode(step.assets) == folder)
        #expect(write(file, "2", 1) == 1 && close(file) == 0)
        #expect(try Files.text("\(step.assets)/a/picture") == "12")
        #expect(try fixture.leftovers(storage) == [])
    }

    @Test("W07: a folder named by a link is copied if there is a closing slash, and never moved or consumed")
    func links() throws {
        let source = try fixture.source()
        let link = "\(fixture.folder)/link"
        #expect(symlink(source, link) == 0)
        for use in [StepContent.SourceUse.moved, .consumed] {
            for name in [link, "\(link)/", "\(link)//", "\(link)/."] {
                let error = failure { () throws(ProjectError) in try add(name, use) }
                guard case .badSource = error?.underlying as? ProjectProblem else {
                    Issue.record("\(name): \(String(describing: error))")
                    continue
                }
                #expect(try Files.names(in: source) == ["thumbnail.png"] && inode(link) != 0, "\(name)")
            }
        }
        #expect(failure { () throws(ProjectError) in try add(link, .copied) } != nil)
        #expect(try Files.text("\(add("\(link)/", .copied).assets)/thumbnail.png") == "picture")
        #expect(try Files.names(in: source) == ["thumbnail.png"])
    }

    @Test("W07: whether a source lies in the storage is told by the folders themselves, whatever their names look like")
    func identity() throws {
        // The names of the two folders, one composed and one decomposed, are equal strings in Swift.
        let (composed, decomposed) = ("\(fixture.folder)/\u{e9}", "\(fixture.folder)/e\u{301}")
        let storage = ProjectStorage(base: composed, bundleID: "x")
        let id = try storage.createProject()
        try Files.write("1", to: "\(decomposed)/assets/a")
        for source in ["\(decomposed)/assets", decomposed] {
            try storage.addSteps([StepContent(assetsSource: source, sourceUse: .copied)], to: id)
        }
        #expect(try storage.stepIDs(of: id).count == 2)
        // The base folder has a second name here.
        let (base, other) = (fixture.base, "\(fixture.folder)/other")
        #expect(symlink(base, other) == 0)
        for source in ["\(other)/", "\(other)/\(self.id)", "\(other)/\(self.id)/assets", "\(base)/../base/./"] {
            let error = failure { () throws(ProjectError) in try add(source, .copied) }
            #expect("\(String(describing: error))".contains("it is inside the storage"), "\(source)")
        }
        let error = failure { () throws(ProjectError) in try add(fixture.folder, .copied) }
        #expect("\(String(describing: error))".contains("the storage is inside it"))
    }

    @Test("W07: what the program refuses besides is refused, by the folder's real path")
    func refusals() throws {
        let source = try fixture.source()
        let storage = ProjectStorage(
            base: fixture.base, bundleID: "x", sourceRefusal: { $0 == source ? "it is somebody's" : nil })
        let request = ProjectUpdateRequest(
            projectID: id,
            stepsToAdd: [StepContent(assetsSource: "\(source)/../\(Path(source).name)", sourceUse: .copied)])
        let error = failure { () throws(ProjectError) in try storage.updateProject(request) }
        #expect("\(String(describing: error))".contains("cannot be used as assets: it is somebody's"))
        #expect(try fixture.stepFolders(of: id).count == 1)
    }

    @Test(
        "W07 W17: a source on another file system is copied and not moved",
        .disabled(if: StorageFixture.memory == nil, "needs /dev/shm"))
    func elsewhere() throws {
        let other = try StorageFixture.$root.withValue(StorageFixture.memory) { try StorageFixture() }
        let source = try other.source()
        let before = try fixture.tree()
        let error = failure { () throws(ProjectError) in try add(source, .moved) }
        #expect((error?.underlying as? ProjectProblem) == .sourceElsewhere(path: source))
        #expect(try fixture.tree() == before && Files.names(in: source) == ["thumbnail.png"])
        #expect(try Files.names(in: add(source, .copied).assets) == ["thumbnail.png"])
    }

    @Test(
        "W07 W17: a source in which another file system is mounted is not moved",
        .enabled(if: Build.isRoot, "mounting needs root"))
    func mountedInside() async throws {
        let source = try fixture.source(["a/picture": "1"])
        try await mustRun("mount", ["-t", "tmpfs", "tmpfs", "\(source)/a"])
        defer { umount2("\(source)/a", Int32(MNT_DETACH)) }
        let error = failure { () throws(ProjectError) in try add(source, .moved) }
        #expect((error?.underlying as? ProjectProblem) == .sourceElsewhere(path: "\(source)/a"))
        #expect(try Files.names(in: source) == ["a"])
    }

    @Test("W19: what was on its way is put back beside the storage when something else stands where it came from")
    func taken() throws {
        let faults = DiskFaults()
        let writer = fixture.storage(faults: faults)
        var number = 0
        var wasOnItsWay = false
        while !wasOnItsWay {
            let source = try fixture.source(["new": "1"])
            faults.arm(stoppingAt: number)
            let step = StepContent(assetsSource: source, sourceUse: .moved)
            let request = ProjectUpdateRequest(projectID: id, stepsToAdd: [step])
            #expect(failure { () throws(ProjectError) in try writer.updateProject(request) } != nil)
            faults.disarm()
            wasOnItsWay = !Files.exists(source)
            if wasOnItsWay { try Files.write("other", to: "\(source)/other") }
            _ = fixture.storage()
            #expect(try Files.names(in: source) == [wasOnItsWay ? "other" : "new"])
            number += 1
        }
        let recovered = try Files.names(in: fixture.base).filter { $0.hasPrefix("recovered-") }
        #expect(recovered.count == 1)
        #expect(try Files.text("\(fixture.base)/\(recovered.first ?? "")/new") == "1")
    }
}

extension Path {
    fileprivate var name: String { text.split(separator: "/").last.map(String.init) ?? "" }
}
