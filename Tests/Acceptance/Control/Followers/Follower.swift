import Glibc
import Model
import Synchronization
import TestSupport

/// A client of the control socket that is no program of Larder's. It reads a stream, and is killed and begun again: its
/// connection is dropped wherever it is, and what it has is what the last whole event came to.
final class Follower: Sendable {
    private struct State {
        var replayed: any Replayed
        /// The id of the last whole event.
        var last: ChangePosition?
        /// The number of bytes after which the connection is dropped.
        var bytesLeft: Int?
        /// Until when nothing is read.
        var pause: ContinuousClock.Instant?
        var kills = 0
        /// The kills in the middle of an event.
        var cuts = 0
        var connections = 0
        var events = 0
        var refusals: [Int: Int] = [:]
        var faults: [String] = []
        var isOver = false
        /// Called when bytes have come, once.
        var whenHeard: (@Sendable () -> Void)?
    }

    /// What the follower asks for, after the account's path: `query?path=/a`.
    let target: String
    /// The command that tells the same in a fresh list.
    let command: [String]
    private let state: Mutex<State>

    /// - Parameters:
    ///   - target: What the follower asks for.
    ///   - command: The command that lists the same.
    ///   - replayed: What the follower has at the beginning.
    ///   - position: The position at which it has that; nil if it asks for everything.
    init(_ target: String, _ command: [String], _ replayed: any Replayed, after position: ChangePosition? = nil) {
        (self.target, self.command) = (target, command)
        state = Mutex(State(replayed: replayed, last: position))
    }

    // MARK: What it has

    var content: [String] { state.withLock { $0.replayed.content } }
    var position: ChangePosition? { state.withLock(\.last) }
    var kills: Int { state.withLock(\.kills) }
    var faults: [String] { state.withLock { $0.faults.map { "\(target): \($0)" } } }

    /// What happened to it.
    var story: String {
        state.withLock {
            "\(target): \($0.connections) connections, \($0.events) events, \($0.kills) kills, \($0.cuts) in an event"
                + ($0.refusals.isEmpty ? "" : ", refused \($0.refusals)")
        }
    }

    // MARK: What happens to it

    /// Kills it after it has read some more bytes.
    func kill(after bytes: Int) { state.withLock { if $0.bytesLeft == nil { $0.bytesLeft = bytes } } }

    /// Lets it read nothing for a time.
    func pause(for time: Duration) { state.withLock { $0.pause = .now + time } }

    /// Calls a function when it has read something, once.
    func whenHeard(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.whenHeard = body } }

    func stop() { state.withLock { $0.isOver = true } }

    // MARK: Its work

    /// Follows until it is stopped, or has found a fault. Blocks.
    /// - Parameters:
    ///   - seed: Seeds the sizes of the pieces that it reads.
    ///   - socket: Returns the path of the host's socket.
    func run(_ seed: UInt64, _ socket: @Sendable () -> String?) {
        var random = SeededGenerator(seed: seed)
        while state.withLock({ !$0.isOver && $0.faults.isEmpty }) {
            do {
                guard let path = socket() else { throw SetupError("no host") }
                let stream = try StreamSocket(to: path, request)
                do { try read(stream, &random) } catch {
                    state.withLock { $0.faults.append("\(error)") }
                }
            } catch {
                usleep(10_000)
            }
        }
    }

    private var request: String {
        let last = position.map { "Last-Event-ID: \($0)\r\n" } ?? ""
        return "GET /v1/accounts/home/\(target) HTTP/1.1\r\nHost: larder\r\nAccept: text/event-stream\r\n\(last)\r\n"
    }

    private func read(_ stream: borrowing StreamSocket, _ random: inout SeededGenerator) throws {
        state.withLock { state in
            state.connections += 1
            state.replayed.begin(after: state.last)
        }
        var events = SentEvents()
        while true {
            let (isOver, waits, left) = state.withLock { state in
                (state.isOver, state.pause.map { $0 > .now } ?? false, state.bytesLeft)
            }
            if isOver { return }
            if waits {
                usleep(5_000)
                continue
            }
            let most = Int.random(in: 1...Int.random(in: 1...16_384, using: &random), using: &random)
            guard let bytes = stream.read(atMost: min(most, left ?? most)) else { return }
            guard !bytes.isEmpty else { continue }
            let heard = state.withLock { state in
                defer { state.whenHeard = nil }
                return state.whenHeard
            }
            heard?()
            for event in try events.take(bytes) where events.status == 200 { try take(event) }
            if let status = events.status, status != 200 {
                state.withLock { $0.refusals[status, default: 0] += 1 }
                usleep(20_000)
                return
            }
            guard let left else { continue }
            let isKilled = state.withLock { state in
                state.bytesLeft = left > bytes.count ? left - bytes.count : nil
                guard state.bytesLeft == nil else { return false }
                state.kills += 1
                if events.isInsideEvent { state.cuts += 1 }
                return true
            }
            if isKilled { return }
        }
    }

    private func take(_ event: SentEvents.Event) throws {
        guard event.name != "error" else { throw SetupError("an error: \(event.data)") }
        let data = try JSONValue(parsing: event.data)
        try state.withLock { state in
            state.events += 1
            try state.replayed.take(data)
            guard let id = event.id else { return }
            guard let position = ChangePosition(id) else { throw SetupError("no position: \(id)") }
            if let last = state.last, last.epoch != position.epoch || last.anchor > position.anchor {
                throw SetupError("the position goes back from \(last) to \(position)")
            }
            state.last = position
        }
    }
}
