import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Warehouse

@Suite struct ConcurrencyTests {
    @Test("W18: eight threads with a storage each update one project, and no update is lost")
    func threads() throws {
        let fixture = try StorageFixture.$root.withValue(StorageFixture.memory) { try StorageFixture() }
        let id = try fixture.storage().createProject()
        let errors = Mutex<[any Error]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            do {
                let storage = fixture.storage()
                for number in 0..<25 {
                    try storage.updateProject(id, .all) { project in
                        var request = ProjectUpdateRequest.addStep(
                            StepContent(userData: [UInt8(thread), UInt8(number)]), to: project)
                        request?.userData = (project.userData ?? []) + [UInt8(thread)]
                        return request
                    }
                    let seen = try storage.fetchProject(id, .all)
                    if seen.stepIDs?.count != seen.stepCursor || seen.userData?.count != seen.stepCursor {
                        throw SetupError("a mix: \(seen.stepIDs?.count ?? 0) steps, cursor \(seen.stepCursor)")
                    }
                }
            } catch {
                errors.withLock { $0.append(error) }
            }
        }
        #expect(errors.withLock { $0.map { "\($0)" } } == [])
        let storage = fixture.storage()
        let project = try storage.fetchProject(id, .all)
        let steps = try (project.stepIDs ?? []).map { try storage.fetchStep($0, of: id).userData }
        #expect(project.stepCursor == 200)
        #expect(Set(steps).count == 200)
        #expect(steps.map { $0[0] } == project.userData)
        #expect(try fixture.leftovers(storage) == [])
    }

    @Test("W18: who writes waits for another writer on the same base folder, readers do not, and other folders go on")
    func waiting() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let id = try storage.createProject()
        let holder = open("\(fixture.base)/.lock", O_RDWR | O_CLOEXEC)
        #expect(flock(holder, LOCK_EX) == 0)
        let done = Gate()
        let failure = Mutex<String?>(nil)
        DispatchQueue(label: "a writer that waits").async {
            do {
                try fixture.storage().updateProject(ProjectUpdateRequest(projectID: id, userData: [1]))
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
            done.open()
        }
        var info = stat()
        #expect(fstat(holder, &info) == 0)
        // The kernel lists each waiting process with an arrow.
        try untilOnThread {
            try Files.text("/proc/locks").split(separator: "\n").contains {
                $0.contains("->") && $0.contains(":\(info.st_ino) ")
            }
        }
        #expect(try storage.fetchProject(id, .all).userData == [])
        #expect(try storage.projectIDs() == [id])
        let other = try StorageFixture()
        _ = try other.storage().createProject()
        #expect(!done.isOpen)
        close(holder)
        done.passOnThread()
        #expect(failure.withLock { $0 } == nil)
        #expect(try storage.fetchProject(id, .all).userData == [1])
    }
}
