import Model
import Threads
import Transfer

/// A file that is the body of a request.
struct UploadBody: Sendable {
    let source: any UploadSource
    /// The position in the file at which the body begins.
    var start: Int64 = 0
    /// The size of the body in bytes. Exactly so many are sent, or the request fails.
    let size: Int64
    /// The bandwidth that the bytes wait for.
    let bandwidth: BandwidthQueue
    /// A function that gets the number of bytes that the network has taken, from 0 at each beginning.
    var progress: @Sendable (Int64) -> Void

    /// The number of bytes that are read at a time. For more, malloc maps memory anew each time, which the kernel clears.
    static let piece = 65_536
    /// The number of bytes that the network gets at a time. It says that it has taken them when it has taken all, so
    /// they must be few enough for the least pace to be measured.
    static let slice = 16_384
    /// The number of bytes that a network gets at a time which has taken the last ones within ``quick``, and without a
    /// limit of the bandwidth. Each time costs a change of threads.
    static let largestSlice = 65_536
    /// The time within which a network counts as quick.
    static let quick = Duration.milliseconds(100)
    /// The size in bytes up to which a body goes out as one piece, without the cost of a stream.
    static let largestSmall: Int64 = 65_536

    /// Returns the body of a request that has a turn. For a large file, the turn notes what goes through.
    func telling(_ turn: Turn) -> Self {
        guard SizeClass(of: source.size) == .large else { return self }
        var body = self
        body.progress = { [progress] sent in
            turn.note(progress: sent)
            progress(sent)
        }
        return body
    }

    /// Whether the body goes out as one piece.
    var isSmall: Bool { size <= Self.largestSmall }

    /// Returns the whole of a small body when it may go out.
    /// - Throws: `source` as ``piece(at:)``; `cancelled`.
    func whole() async throws(TransportError) -> [UInt8] {
        progress(0)
        do {
            let body = try await runBlocking { try piece(at: 0) }
            try await bandwidth.wait(for: body.count, of: SizeClass(of: source.size))
            return body
        } catch let error as TransportError {
            throw error
        } catch {
            throw .cancelled
        }
    }

    /// Reads the next piece of the body. Blocks on the disk.
    /// - Parameter offset: The piece's position in the body.
    /// - Throws: `source` if the file cannot be read, is too short, or has changed when its last piece was read.
    func piece(at offset: Int64) throws(TransportError) -> [UInt8] {
        let wanted = Int(min(Int64(Self.piece), size - offset))
        do {
            let bytes = try [UInt8](unsafeUninitializedCapacity: wanted) { memory, done in
                while done < wanted {
                    let rest = UnsafeMutableRawBufferPointer(
                        rebasing: UnsafeMutableRawBufferPointer(memory)[done..<wanted])
                    let count = try source.read(at: start + offset + Int64(done), into: rest)
                    guard count > 0 else { throw TransportError.source("the file has become shorter meanwhile") }
                    done += min(count, rest.count)
                }
            }
            if start + offset + Int64(wanted) == source.size { try source.check() }
            return bytes
        } catch {
            throw .source(Self.reason(error))
        }
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case TransportError.source(let why): why
        case let error as Failure: error.message
        default: "the file cannot be read: \(error)"
        }
    }
}

/// A body on its way: the pieces that the network gets, and the times in which it takes them.
final class UploadStream: Sendable {
    private struct State: Sendable {
        /// The pace at which the server takes the body; nil if it may take any time.
        var pace: TransferPace?
        /// Whether the answer has come.
        var isOver = false
        /// Whether the file is being read.
        var isReading = false
        /// Whether nobody reads the file any more.
        var isClosed = false
        /// The time at which the whole body had been taken.
        var sent: Duration?
    }

    /// The way to the network.
    let feed: UploadFeed
    private let body: UploadBody
    private let limits: AnswerLimits
    private let state: Monitor<State>

    /// Creates the stream of a body.
    /// - Parameter limits: The limits of the answer. The body must go out at the pace of `limits.upload`.
    init(_ body: UploadBody, _ limits: AnswerLimits) {
        (self.body, self.limits, feed) = (body, limits, UploadFeed(size: body.size))
        state = Monitor(State(pace: limits.upload.map { TransferPace($0) }))
    }

    /// Hands the whole body to the network, piece by piece.
    /// - Throws: The error of the file; `CancellationError`.
    func send() async throws {
        var offset: Int64 = 0
        var slice = UploadBody.slice
        body.progress(0)
        while offset < body.size {
            let piece = try await read(at: offset)
            var rest = piece[...]
            while !rest.isEmpty {
                let length = Swift.min(rest.count, slice)
                try await body.bandwidth.wait(for: length, of: SizeClass(of: body.source.size))
                let wait = try await give(Array(rest.prefix(length)), upTo: offset + Int64(length))
                rest = rest.dropFirst(length)
                offset += Int64(length)
                slice =
                    wait < UploadBody.quick && !body.bandwidth.isLimited ? UploadBody.largestSlice : UploadBody.slice
            }
        }
    }

    private func read(at offset: Int64) async throws -> [UInt8] {
        let isAllowed = state.change { state in
            state.isReading = !state.isClosed
            return state.isReading
        }
        guard isAllowed else { throw CancellationError() }
        defer { state.change { $0.isReading = false } }
        return try await runBlocking { [body] in try body.piece(at: offset) }
    }

    /// Gives the network bytes, and waits until it has taken them. Only this time counts for the pace.
    /// - Returns: The time that it took.
    private func give(_ bytes: [UInt8], upTo offset: Int64) async throws(CancellationError) -> Duration {
        let given = Duration.uptime
        state.change { $0.pace?.beginWaiting(at: given) }
        feed.offer(bytes)
        try await feed.untilSent()
        state.change { state in
            let now = Duration.uptime
            state.pace?.endWaiting(at: now)
            state.pace?.arrived(bytes.count)
            if offset == body.size { state.sent = now }
        }
        body.progress(offset)
        return .uptime - given
    }

    /// Ends the reading of the file, and returns when no call to its source is under way.
    func close() async {
        state.change { $0.isClosed = true }
        await state.wait { !$0.isReading }
    }

    /// Notes that the answer has come. Nothing is too slow any more.
    func end() { state.change { $0.isOver = true } }

    /// Waits until the server is too slow to take the body or to answer after that. Ends with the task, and when the
    /// answer has come.
    /// - Throws: The error for the request.
    func watch() async throws {
        let interval = limits.upload.map { TransferPace.interval(of: $0) } ?? .seconds(5)
        while true {
            try await Task.sleep(for: Swift.min(interval, limits.head))
            let problem = state.change { state -> TransportError? in
                if state.isOver { return nil }
                if let sent = state.sent { return .uptime - sent < limits.head ? nil : .timedOut(.head) }
                guard let least = limits.upload, let rate = state.pace?.tick(at: .uptime) else { return nil }
                return .takesTooSlowly(rate, least)
            }
            if let problem { throw problem }
            if state.change({ $0.isOver }) { return }
        }
    }
}
