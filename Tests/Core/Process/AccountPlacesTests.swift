import Model
import TestSupport
import Testing
import Threads

@testable import Core

struct AccountPlacesTests {
    /// A clock on which time passes when the test says so.
    private let time = Monitor(Duration.zero)

    private func accounts() -> AccountPlaces {
        AccountPlaces(
            clock: HostClock(now: { .now() }, monotonic: { [time] in time.with(\.self) }) { [time] length in
                let end = time.with(\.self) + length
                try await time.waitUnlessCancelled { $0 >= end }
            })
    }

    @Test("H18: a few accounts start at once, and others when these have started; one that is gone leaves its place")
    func most() async throws {
        let accounts = accounts()
        var places: [AccountPlaces.Place] = []
        for _ in 0..<AccountPlaces.most { places.append(try await accounts.enter()) }
        let next = Task { try await accounts.enter() }
        await until { time.waiting == 1 }
        #expect(accounts.count == AccountPlaces.most)
        places[0].leave()
        places[0].leave()
        let place = try await next.value
        #expect(accounts.count == AccountPlaces.most && time.waiting == 0)
        places.removeAll()
        #expect(accounts.count == 1)
        place.leave()
        #expect(accounts.count == 0)
    }

    @Test("H18: while those that start take long, others begin one after the other; a wait that is cancelled ends")
    func pace() async throws {
        let accounts = accounts()
        var places: [AccountPlaces.Place] = []
        for _ in 0..<AccountPlaces.most { places.append(try await accounts.enter()) }
        let cancelled = Task { try await accounts.enter() }
        await until { time.waiting == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { _ = try await cancelled.value }
        #expect(accounts.count == AccountPlaces.most && time.waiting == 0)

        let others = (0..<3).map { _ in Task { try await accounts.enter() } }
        for number in 1...3 {
            await until { time.waiting == 4 - number }
            time.change { $0 += AccountPlaces.pace - .milliseconds(1) }
            #expect(time.waiting == 4 - number)
            time.change { $0 += .milliseconds(1) }
            await until { accounts.count == AccountPlaces.most + number }
        }
        for other in others { places.append(try await other.value) }
        #expect(accounts.count == AccountPlaces.most + 3 && time.waiting == 0)
    }
}
