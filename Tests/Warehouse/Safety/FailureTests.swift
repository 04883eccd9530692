import Glibc
import TestSupport
import Testing

@testable import Warehouse

/// Tests of a disk that is full or broken at each system call in turn.
@Suite struct FailureTests {
    @Test(
        "W07: an operation that fails once at any call has changed nothing, and left the source of assets alone",
        arguments: Operation.allCases, [ENOSPC, EIO])
    func once(_ operation: Operation, code: Int32) throws {
        try StorageFixture.$root.withValue(StorageFixture.memory) {
            for exchanges in operation.replacesData ? [true, false] : [true] {
                try everyFailure(operation, code, exchanges: exchanges) { $0..<$0 + 1 }
            }
        }
    }

    @Test(
        "W07: a disk that stays full or broken from any call on leaves the old or the new state",
        arguments: Operation.allCases, [ENOSPC, EIO])
    func forGood(_ operation: Operation, code: Int32) throws {
        try StorageFixture.$root.withValue(StorageFixture.memory) {
            try everyFailure(operation, code, exchanges: true) { $0..<Int.max }
        }
    }

    private func everyFailure(
        _ operation: Operation, _ code: Int32, exchanges: Bool, _ numbers: (Int) -> Range<Int>
    ) throws {
        let (before, after) = try operation.states(exchanges: exchanges)
        var number = 0
        while true {
            let fixture = try Operation.Fixture(exchanges: exchanges)
            let observer = Recorder()
            fixture.storage.addObserver(observer)
            let failing = numbers(number)
            fixture.faults.arm(failing: failing, with: code)
            var failed: ProjectError?
            do {
                try operation.perform(fixture)
            } catch let error as ProjectError {
                failed = error
            }
            let hasEnded = fixture.faults.passed.count <= number
            let place = "\(operation), call \(number): \(fixture.faults.passed.dropFirst(number).prefix(2))"
            fixture.faults.disarm()
            let now = try Observation(fixture.storage)
            #expect(observer.events.isEmpty == (failed != nil || operation == .setDate), "\(place)")
            if let failed {
                #expect(failed.code == operation.failureCode)
                #expect(failed.projectID != nil)
                #expect((failed.underlying as? SystemCallError)?.code == code, "\(place)")
                // On a disk that stays broken the storage cannot undo the operation. The next opening undoes it.
                if operation != .move || failing.count == 1 { try expectSource(fixture, place) }
                if failing.count == 1 {
                    #expect(now == before, "\(place)")
                    #expect(try fixture.folder.leftovers(fixture.storage) == [], "\(place)")
                } else {
                    #expect(now == before || now == after, "\(place)")
                }
            } else {
                #expect(now == after, "\(place)")
            }
            let storage = fixture.folder.storage()
            #expect(try Observation(storage) == now, "\(place), swept")
            #expect(try fixture.folder.leftovers(storage) == [], "\(place)")
            if failed != nil, now == before { try expectSource(fixture, place) }
            if hasEnded { break }
            number += 1
        }
        #expect(number > 10)
    }

    private func expectSource(_ fixture: Operation.Fixture, _ place: String) throws {
        #expect(try Observation.files(fixture.source) == ["new/picture": [0x34]], "\(place)")
    }

    @Test("W07: data that are too large to be read again are not written, and the project stays as it was")
    func tooLarge() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage(largestFile: 1 << 16)
        let id = try storage.project(steps: 1)
        let before = try fixture.tree()
        let most = [UInt8](repeating: 7, count: 1 << 16)
        for request in [
            ProjectUpdateRequest(projectID: id, userData: most + [7]),
            ProjectUpdateRequest(projectID: id, stepsToAdd: [StepContent(userData: most + [7])]),
        ] {
            let error = failure { () throws(ProjectError) in try storage.updateProject(request) }
            #expect(error?.code == .writeFailed)
            #expect((error?.underlying as? SystemCallError)?.code == EFBIG)
            #expect(try fixture.tree() == before)
        }
        try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: most))
        #expect(try storage.fetchProject(id, .userData).userData == most)
    }

    @Test(
        "W07: on a disk that is really full the project stays as it was",
        .enabled(if: Build.isRoot, "mounting a small disk needs root"))
    func fullDisk() async throws {
        try await withTemporaryFolder { folder in
            try await mustRun("mount", ["-t", "tmpfs", "-o", "size=1M", "tmpfs", folder])
            do {
                try StorageFixture.$root.withValue(folder) { try fill() }
            } catch {
                try await mustRun("umount", [folder])
                throw error
            }
            try await mustRun("umount", [folder])
        }
    }

    private func fill() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let id = try storage.project(steps: 1)
        let before = try fixture.tree()
        for request in [
            ProjectUpdateRequest(projectID: id, userData: [UInt8](repeating: 7, count: 2 << 20)),
            ProjectUpdateRequest(
                projectID: id, stepsToAdd: [StepContent(userData: [UInt8](repeating: 7, count: 2 << 20))]),
        ] {
            let error = failure { () throws(ProjectError) in try storage.updateProject(request) }
            #expect(error?.code == .writeFailed)
            #expect((error?.underlying as? SystemCallError)?.code == ENOSPC)
            #expect(try fixture.tree() == before)
        }
        try storage.updateProject(ProjectUpdateRequest(projectID: id, userData: [1]))
    }
}
