import Model
import Synchronization
public import Threads

/// Reads the messages that arrive on a connection, one after the other: a head, and the pieces of its body. One task at a
/// time reads.
///
/// ```swift
/// let reader = HTTPReader(socket)
/// while let head = try await reader.head() {
///     try reader.begin(HTTPBody(after: head, isRequest: true))
///     while let piece = try await reader.next() { … }
/// }
/// ```
public final class HTTPReader: Sendable {
    /// The connection ended in the middle of a message.
    public struct CutOff: Error {}

    private struct State: Sendable {
        /// What arrived and is not used yet.
        var rest: ArraySlice<UInt8> = []
        var body: HTTPBody?
        /// Whether the client waits for a sign before it sends the body.
        var isWaiting = false
    }

    private let socket: PolledSocket
    private let state = Mutex(State())

    public init(_ socket: PolledSocket) { self.socket = socket }

    /// Waits for the next head. The body before it was read.
    /// - Returns: The head; nil if the connection ended before it began.
    /// - Throws: ``CutOff``; a `Failure` if there is no head; ``SocketError``; `CancellationError`.
    public func head() async throws -> HTTPHead? {
        var mayBeWhole = true
        while true {
            let found = try state.withLock { state throws(Failure) -> HTTPHead? in
                // Empty lines before the first one are passed over (RFC 9112, section 2.2).
                state.rest = state.rest.drop { $0 == 13 || $0 == 10 }
                guard mayBeWhole || state.rest.count >= HTTPHead.longest, let read = try HTTPHead.read(state.rest)
                else {
                    return nil
                }
                state.rest = state.rest.dropFirst(read.count)
                return read.head
            }
            if let found { return found }
            let piece = try await socket.read(atMost: 16_384)
            let count = state.withLock { state in
                state.rest += piece
                return state.rest.count
            }
            if count == 0 { return nil }
            guard !piece.isEmpty else { throw CutOff() }
            // A client that never stops writing leaves the thread to others.
            await Task.yield()
            // What begins as no head is not waited for.
            mayBeWhole = count == piece.count || piece.contains(UInt8(ascii: "\n"))
        }
    }

    /// Begins to read a body.
    /// - Parameters:
    ///   - body: The body, from its beginning.
    ///   - isWaiting: Whether the client waits for the answer 100 before it sends the body (RFC 9110, section 10.1.1). It
    ///     is sent if the body is read.
    public func begin(_ body: HTTPBody, isWaiting: Bool = false) {
        state.withLock { ($0.body, $0.isWaiting) = (body, isWaiting) }
    }

    /// Waits for the next bytes of the body.
    /// - Returns: The bytes; nil after the last ones.
    /// - Throws: ``CutOff``; a `Failure` if they make no sense; ``SocketError``; `CancellationError`.
    public func next() async throws -> [UInt8]? {
        while true {
            let (piece, isOver, isWaiting) = try state.withLock { state throws(Failure) in
                let piece = try state.body?.take(&state.rest) ?? []
                let isOver = state.body?.isWhole ?? true
                defer { state.isWaiting = false }
                return (piece, isOver, state.isWaiting && !isOver && piece.isEmpty)
            }
            if !piece.isEmpty { return piece }
            if isOver { return nil }
            if isWaiting { try await socket.write(HTTPHead(line: "HTTP/1.1 100 Continue").bytes) }
            guard try await readMore() else { return nil }
        }
    }

    /// Passes over what is left of the body. A client that waits before it sends the body is not told to go on.
    /// - Throws: As ``next()``.
    public func skip() async throws {
        state.withLock { $0.isWaiting = false }
        while try await next() != nil {}
    }

    /// - Returns: Whether the body may go on.
    private func readMore() async throws -> Bool {
        let piece = try await socket.read(atMost: 65_536)
        // A client that never stops writing leaves the thread to others.
        await Task.yield()
        let endsHere = state.withLock { state in
            state.rest += piece
            return state.body?.endsWithConnection ?? false
        }
        guard piece.isEmpty else { return true }
        guard endsHere else { throw CutOff() }
        return false
    }
}
