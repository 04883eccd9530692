import Transfer

/// The body of an answer, which any task reads piece by piece. Dropping the reader ends the request.
actor BodyReader {
    private enum State {
        case open(any HTTPBody)
        case reading
        case ended
        case failed(ConnectionError)
    }

    private var state: State
    private let doing: String
    private let origin: ServerAddress.Origin

    /// Creates a reader of a body.
    /// - Parameters:
    ///   - body: The body to read.
    ///   - doing: The request in words for a person.
    ///   - origin: The origin that answered.
    init(_ body: any HTTPBody, doing: String, at origin: ServerAddress.Origin) {
        state = .open(body)
        self.doing = doing
        self.origin = origin
    }

    /// Returns the next piece; nil after the last piece, at every further call too. Cancelling the task ends the
    /// request.
    func next() async throws(ConnectionError) -> [UInt8]? {
        switch state {
        case .ended: return nil
        case .failed(let error): throw error
        case .reading: throw ConnectionError(.badRequest, "the answer to \(doing) is read by two readers at once")
        case .open(var body):
            state = .reading
            do throws(TransportError) {
                let chunk = try await body.next()
                if case .reading = state { state = chunk == nil ? .ended : .open(body) }
                return chunk
            } catch {
                let error = ConnectionError(error, doing: doing, at: origin)
                state = .failed(error)
                throw error
            }
        }
    }

    /// Stops reading. If a call waits for a piece, that piece is the last.
    func close() {
        if case .ended = state { return }
        state = .failed(ConnectionError(.cancelled, "\(doing) ended before the answer was complete"))
    }
}
