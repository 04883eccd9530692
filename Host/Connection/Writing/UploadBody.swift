import Model
import NIOCore
import Threads

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
    let progress: @Sendable (Int64) -> Void

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

    /// Whether the body goes out as one piece.
    var isSmall: Bool { size <= Self.largestSmall }

    /// Returns the whole of a small body when it may go out.
    /// - Throws: `source` as ``piece(at:)``; `cancelled`.
    func whole() async throws(TransportError) -> ByteBuffer {
        progress(0)
        do {
            let body = try await runBlocking { try piece(at: 0) }
            try await bandwidth.wait(for: body.readableBytes, of: SizeClass(of: source.size))
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
    func piece(at offset: Int64) throws(TransportError) -> ByteBuffer {
        let wanted = Int(min(Int64(Self.piece), size - offset))
        var buffer = ByteBuffer()
        do {
            _ = try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: wanted) { memory in
                var done = 0
                while done < wanted {
                    let rest = UnsafeMutableRawBufferPointer(rebasing: memory[done..<wanted])
                    let count = try source.read(at: start + offset + Int64(done), into: rest)
                    guard count > 0 else { throw TransportError.source("the file has become shorter meanwhile") }
                    done += min(count, rest.count)
                }
                return done
            }
            if start + offset + Int64(wanted) == source.size { try source.check() }
        } catch {
            throw .source(Self.reason(error))
        }
        return buffer
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case TransportError.source(let why): why
        case let error as Failure: error.message
        default: "the file cannot be read: \(error)"
        }
    }
}

/// A body on its way: its pieces as the network asks for them, and the times in which it does.
final class UploadStream: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    private struct State: Sendable {
        /// The pace at which the server takes the body; nil if it may take any time.
        var pace: TransferPace?
        /// The number of bytes that the network has got and not taken yet.
        var given = 0
        /// The time at which the network got them.
        var givenAt: Duration?
        /// Whether the answer has come.
        var isOver = false
        /// Whether the file is being read.
        var isReading = false
        /// The request for bandwidth that the next bytes wait for.
        var asked: Int?
        /// Whether nobody reads the file any more.
        var isClosed = false
        /// The time at which the whole body had been taken.
        var sent: Duration?
    }

    private let body: UploadBody
    private let limits: AnswerLimits
    private let loop: any EventLoop
    private let state: Monitor<State>

    /// Creates the stream of a body.
    /// - Parameters:
    ///   - limits: The limits of the answer. The body must go out at the pace of `limits.upload`.
    ///   - loop: The loop that writes the body to the network.
    init(_ body: UploadBody, _ limits: AnswerLimits, on loop: any EventLoop) {
        self.body = body
        self.limits = limits
        self.loop = loop
        state = Monitor(State(pace: limits.upload.map { TransferPace($0) }))
    }

    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    struct Iterator: AsyncIteratorProtocol {
        private let stream: UploadStream
        /// The number of bytes that the network has got.
        private var offset: Int64 = 0
        /// The bytes that were read and that the network has not got yet.
        private var piece = ByteBuffer()
        /// The number of bytes that the network gets next.
        private var slice = UploadBody.slice

        init(stream: UploadStream) { self.stream = stream }

        mutating func next() async throws -> ByteBuffer? {
            stream.wantsMore()
            // The library leaves bytes to the loop, and asks for more at once. When the loop comes to this, it has written
            // those bytes, or has told the library to wait. While it is busy, nothing more is read.
            if offset > 0 { try await stream.loop.submit {}.get() }
            if let wait = stream.taken(upTo: offset) {
                slice =
                    wait < UploadBody.quick && !stream.body.bandwidth.isLimited
                    ? UploadBody.largestSlice : UploadBody.slice
            }
            guard offset < stream.body.size else { return nil }
            if piece.readableBytes == 0 {
                piece = try await stream.read(at: offset)
            }
            let length = Swift.min(piece.readableBytes, slice)
            try await stream.waitForBandwidth(length)
            guard let bytes = piece.readSlice(length: length) else { return nil }
            offset += Int64(length)
            stream.given(length)
            return bytes
        }
    }

    private func read(at offset: Int64) async throws -> ByteBuffer {
        let isAllowed = state.change { state in
            state.isReading = !state.isClosed
            return state.isReading
        }
        guard isAllowed else { throw CancellationError() }
        defer { state.change { $0.isReading = false } }
        return try await runBlocking { [body] in try body.piece(at: offset) }
    }

    /// Waits until the next bytes may go out. The time counts neither for the pace nor for the answer.
    private func waitForBandwidth(_ bytes: Int) async throws {
        // One step, so that an end finds the request.
        let (number, isClosed) = state.change { state in
            if !state.isClosed { state.asked = body.bandwidth.ask(for: bytes, of: SizeClass(of: body.source.size)) }
            return (state.asked, state.isClosed)
        }
        if isClosed { throw CancellationError() }
        guard let number else { return }
        try await body.bandwidth.untilGranted(number)
        let isAllowed = state.change { state in
            state.asked = nil
            return !state.isClosed
        }
        guard isAllowed else { throw CancellationError() }
    }

    /// Ends the reading of the file, and returns when no call to its source is under way.
    func close() async {
        let asked = state.change { state in
            state.isClosed = true
            return state.asked
        }
        // The library's task may wait for bandwidth, and does not end with the request's task.
        if let asked { body.bandwidth.withdraw(asked) }
        await state.wait { !$0.isReading }
    }

    /// Notes that the answer has come. Nothing is too slow any more.
    func end() { state.change { $0.isOver = true } }

    private func given(_ bytes: Int) {
        state.change { state in
            let now = Duration.uptime
            (state.given, state.givenAt) = (bytes, now)
            state.pace?.beginWaiting(at: now)
        }
    }

    /// Notes that the library asks for more. Time in which a thread of this process is busy makes no server slow.
    private func wantsMore() { state.change { $0.pace?.endWaiting(at: .uptime) } }

    /// Notes that the network has taken what it got.
    /// - Returns: The time that it took; nil if it had got nothing yet.
    private func taken(upTo offset: Int64) -> Duration? {
        let wait = state.change { state in
            let now = Duration.uptime
            defer { (state.given, state.givenAt) = (0, nil) }
            state.pace?.arrived(state.given)
            if offset == body.size { state.sent = now }
            return state.givenAt.map { now - $0 }
        }
        body.progress(offset)
        return wait
    }

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
