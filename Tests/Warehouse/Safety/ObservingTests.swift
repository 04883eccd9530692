import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Warehouse

@Suite struct ObservingTests {
    private let fixture: StorageFixture
    private let storage: ProjectStorage

    init() throws {
        fixture = try StorageFixture()
        storage = fixture.storage()
    }

    @Test("W14: an observer that was added twice hears once, is not kept alive, and a stranger's removal is nothing")
    func onceAndWeak() throws {
        let observer = Recorder()
        storage.addObserver(observer)
        storage.addObserver(observer)
        storage.removeObserver(Recorder())
        weak var gone: Recorder?
        do {
            let short = Recorder()
            storage.addObserver(short)
            gone = short
        }
        #expect(gone == nil)
        let id = try storage.createProject()
        #expect(observer.events == [.created(id)])
        storage.removeObserver(observer)
        _ = try storage.createProject()
        #expect(observer.events == [.created(id)])
    }

    @Test("W14: an observer may remove itself and others, and use the storage, while it is called")
    func removalInside() throws {
        let observers = Mutex<[Recorder]>([])
        for _ in 0..<5 {
            let observer = Recorder { _, storage in
                for other in observers.withLock({ $0 }) { storage.removeObserver(other) }
                _ = try? storage.createProject()
            }
            observers.withLock { $0.append(observer) }
            storage.addObserver(observer)
        }
        let id = try storage.createProject()
        // The observer that is called first removes all observers. No observer hears of the project that it creates.
        #expect(observers.withLock { $0.flatMap(\.events) } == [.created(id)])
        #expect(try storage.projectIDs().count == 2)
    }

    @Test("W14: a failure is not told, nor a set date, nor what another storage does on the same base folder")
    func silence() throws {
        let id = try storage.project(steps: 1)
        let observer = Recorder()
        storage.addObserver(observer)
        let unknown = ProjectID()
        #expect(failure { () throws(ProjectError) in try storage.deleteProject(unknown) } != nil)
        #expect(failure { () throws(ProjectError) in try storage.duplicateProject(unknown) } != nil)
        let bad = ProjectUpdateRequest(projectID: id, stepCursor: 9)
        #expect(failure { () throws(ProjectError) in try storage.updateProject(bad) } != nil)
        #expect(try storage.updateProject(id, []) { _ in nil } == nil)
        try storage.setCreationDate(ProjectDate(nanoseconds: 0), of: id)
        try storage.setModificationDate(ProjectDate(nanoseconds: 0), of: id)
        try fixture.storage().deleteProject(id)
        #expect(observer.events == [])
    }

    @Test("W15: every failure has its code, its project, its step if it is about one, and its cause")
    func errors() throws {
        let (project, step) = (ProjectID(), StepID())
        let date = ProjectDate(nanoseconds: 0)
        let failures: [(ProjectError.Code, ProjectError?)] = [
            (.fetchFailed, failure { () throws(ProjectError) in try storage.fetchProject(project) }),
            (
                .writeFailed,
                failure { () throws(ProjectError) in
                    try storage.updateProject(ProjectUpdateRequest(projectID: project))
                }
            ),
            (.writeFailed, failure { () throws(ProjectError) in try storage.duplicateProject(project) }),
            (.deleteFailed, failure { () throws(ProjectError) in try storage.deleteProject(project) }),
            (.writeFailed, failure { () throws(ProjectError) in try storage.setCreationDate(date, of: project) }),
            (.writeFailed, failure { () throws(ProjectError) in try storage.setModificationDate(date, of: project) }),
            (.calculateSizeFailed, failure { () throws(ProjectError) in try storage.size(of: project) }),
        ]
        for (code, error) in failures {
            #expect(error?.code == code)
            #expect(error?.projectID == project)
            #expect(error?.stepID == nil)
            #expect(error?.underlying as? ProjectProblem == .noSuchProject)
            #expect(error?.description.contains("\(project)") == true)
        }
        let known = try storage.createProject()
        let missing = failure { () throws(ProjectError) in try storage.fetchStep(step, of: known) }
        #expect(missing?.projectID == known && missing?.stepID == step)
        #expect(missing?.underlying as? ProjectProblem == .noSuchStep)
        // An error of a listing names no project. It names the key by which the list was to be sorted.
        Files.remove(fixture.base)
        let listing = failure { () throws(ProjectError) in try storage.projectIDs(sortedBy: .modificationDate) }
        #expect(listing?.projectID == nil && listing?.message.contains("modificationDate") == true)
        #expect((listing?.underlying as? SystemCallError)?.code == ENOENT)
    }
}
