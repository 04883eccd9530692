import Model
import Synchronization
import Threads

/// A gate that lets a limited number of requests through at a time: of each kind as many as help, and of all together no
/// more than the config allows. The others wait in the order in which they came.
final class RequestGate: Sendable {
    /// A kind of requests that take about the same time. What is learned of one kind says nothing of another.
    enum Kind: Int, Sendable, CaseIterable {
        /// Listings, and questions about the server.
        case listing
        case smallDownload, largeDownload
        case smallUpload, largeUpload
        /// Small requests that change something, and the questions that they need.
        case change

        static func download(_ size: SizeClass) -> Self { size == .small ? .smallDownload : .largeDownload }

        static func upload(_ size: SizeClass) -> Self { size == .small ? .smallUpload : .largeUpload }

        fileprivate var measure: Concurrency.Measure {
            switch self {
            case .largeDownload, .largeUpload: .byteRate(ByteRate())
            default: .answerTimes(AnswerTimes())
            }
        }
    }

    /// What a request tells of the server.
    enum Sign: Sendable {
        /// An answer came, the given time after the request was sent; see ``answered(head:body:)``.
        case answered(after: Duration)
        /// The server refused for lack of capacity, or there was no answer.
        case refused
        /// Bytes of a file went through.
        case transferred(Int)

        /// Returns the sign of an answer, whose time is the one to its first byte, and what its body takes beyond a moment.
        /// Where the way is narrow rather than long, the bodies show it.
        /// - Parameters:
        ///   - head: The time from the moment at which the request could be sent to the first byte.
        ///   - body: The time from there to the end.
        static func answered(head: Duration, body: Duration) -> Self {
            .answered(after: head + max(.zero, body - moment))
        }
        private static let moment = Duration.milliseconds(100)
    }

    private struct State: Sendable {
        let most: Int
        var underWay: [Int]
        var kinds: [Concurrency]
        var all = 0

        mutating func enter(_ kind: Kind) -> Bool {
            guard all < most, underWay[kind.rawValue] < kinds[kind.rawValue].limit else { return false }
            all += 1
            underWay[kind.rawValue] += 1
            kinds[kind.rawValue].began(underWay: underWay[kind.rawValue])
            return true
        }

        mutating func leave(_ kind: Kind) {
            all -= 1
            underWay[kind.rawValue] -= 1
            kinds[kind.rawValue].ended()
        }

        mutating func note(_ sign: Sign, _ kind: Kind, _ now: Duration, _ hasRoom: Bool) {
            let underWay = underWay[kind.rawValue]
            switch sign {
            case .answered(let time):
                kinds[kind.rawValue].answered(
                    after: time, underWay: underWay, now: now, hasRoom: hasRoom)
            case .refused: kinds[kind.rawValue].refused(underWay: underWay, now: now)
            case .transferred(let bytes):
                kinds[kind.rawValue].transferred(
                    bytes, underWay: underWay, now: now, hasRoom: hasRoom)
            }
        }
    }

    private let state: Monitor<State>
    fileprivate let now: @Sendable () -> Duration
    private let hasRoom: @Sendable () -> Bool
    fileprivate let freed: @Sendable () -> Void

    /// - Parameters:
    ///   - most: The number of requests of all kinds that may be under way, at least 1.
    ///   - now: The monotonic clock.
    ///   - freed: Called after a turn has ended, for those who take turns without waiting.
    ///   - hasRoom: Tells whether the process has room for many connections.
    init(
        most: Int, now: @escaping @Sendable () -> Duration,
        hasRoom: @escaping @Sendable () -> Bool = { OpenFiles.areMany }, freed: @escaping @Sendable () -> Void = {}
    ) {
        let most = max(1, most)
        state = Monitor(
            State(
                most: most, underWay: Kind.allCases.map { _ in 0 },
                kinds: Kind.allCases.map { Concurrency($0.measure, most: most) }))
        (self.now, self.hasRoom, self.freed) = (now, hasRoom, freed)
    }

    /// The number of requests of a kind that may be under way now, as far as is known.
    func limit(_ kind: Kind) -> Int { state.with { $0.kinds[kind.rawValue].limit } }

    /// Returns when there is room, and takes this room until the turn ends.
    /// - Throws: `CancellationError` if the task is cancelled. No room is taken then.
    func enter(_ kind: Kind) async throws(CancellationError) -> Turn {
        try await state.waitUnlessCancelled { $0.enter(kind) }
        return Turn(self, kind)
    }

    /// Takes room until ``leave(_:noting:)``, if there is some.
    /// - Returns: Whether there was.
    func tryEnter(_ kind: Kind) -> Bool { state.change { $0.enter(kind) } }

    /// Gives room to the requests that have waited longest.
    /// - Parameter sign: What the request tells of the server; nil if nothing.
    func leave(_ kind: Kind, noting sign: Sign? = nil) {
        guard let sign else { return state.change { $0.leave(kind) } }
        let (now, hasRoom) = (now(), hasRoom())
        state.change { state in
            state.note(sign, kind, now, hasRoom)
            state.leave(kind)
        }
    }

    /// Notes what a request tells of the server.
    func note(_ sign: Sign, _ kind: Kind) {
        let (now, hasRoom) = (now(), hasRoom())
        state.change { $0.note(sign, kind, now, hasRoom) }
    }
}

/// The room that a request has taken at a gate.
final class Turn: Sendable {
    private let gate: RequestGate
    private let kind: RequestGate.Kind
    private let noted = Atomic<Int64>(0)
    private let state = Mutex(State())

    private struct State {
        var isOver = false
        /// The time to the first byte of the answer, and the time when it came; nil before.
        var head: (after: Duration, at: Duration)?
    }

    /// Takes over room that was taken before.
    init(_ gate: RequestGate, _ kind: RequestGate.Kind) { (self.gate, self.kind) = (gate, kind) }

    /// Notes what the request tells of the server.
    func note(_ sign: RequestGate.Sign) { gate.note(sign, kind) }

    /// Notes that an answer has begun. The turn's end tells how long it took.
    /// - Parameter time: The time from the moment at which the request could be sent to the first byte.
    func answerBegan(after time: Duration) { state.withLock { $0.head = (time, gate.now()) } }

    /// Notes how many bytes of a large file went through so far, from 0 at each beginning.
    func note(progress: Int64) {
        let before = noted.exchange(progress, ordering: .relaxed)
        if progress > before { note(.transferred(Int(progress - before))) }
    }

    /// Leaves the room to somebody who gives it back otherwise.
    func handOver() { state.withLock { $0.isOver = true } }

    /// Gives the room back. Later calls do nothing.
    func end() {
        let state = state.withLock { state in
            defer { state.isOver = true }
            return state
        }
        guard !state.isOver else { return }
        gate.leave(kind, noting: state.head.map { .answered(head: $0.after, body: gate.now() - $0.at) })
        gate.freed()
    }

    deinit { end() }
}
