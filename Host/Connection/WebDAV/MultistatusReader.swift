import Model

/// A reader that makes responses from a multistatus as it arrives. Two threads must not use it at the same time.
///
/// The reader holds the responses of one piece of the answer, and at most 16 MiB of text of an unfinished response.
final class MultistatusReader {
    private let multistatus: Multistatus<TextResponseBuilder>
    private let xml: XMLReader
    private let asked: ServerAddress
    private let ownPath: Substring
    private var isTruncated = false
    private var errors: [String] = []

    /// Creates a reader for an answer.
    /// - Parameters:
    ///   - properties: The requested properties.
    ///   - asked: The address that was requested.
    ///   - mostText: The largest amount of text that a response may have, in bytes.
    init(
        _ properties: AskedProperties, asked: ServerAddress, mostText: Int = 16 << 20
    ) throws(ConnectionError) {
        self.asked = asked
        ownPath = Self.withoutSlash(asked.normalizedPath)
        multistatus = Multistatus(TextResponseBuilder(properties, mostText: mostText))
        do { xml = try XMLReader(handler: multistatus) } catch {
            throw Self.violation(asked, ("the answer cannot be read: \(error.reason)", nil))
        }
    }

    /// Reads the next piece of the answer.
    /// - Returns: The responses that are complete.
    func read(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> [MultistatusResponse] {
        var failure: XMLReader.Malformed?
        do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { failure = error }
        return try responses(failure)
    }

    /// Finishes reading at the end of the answer.
    /// - Throws: `protocolViolation` if the document is not complete. The responses before it are then not all.
    func finish() throws(ConnectionError) -> MultistatusEnd {
        var failure: XMLReader.Malformed?
        do throws(XMLReader.Malformed) { try xml.finish() } catch { failure = error }
        _ = try responses(failure)
        return MultistatusEnd(syncToken: multistatus.syncToken, isTruncated: isTruncated, errors: errors)
    }

    private func responses(_ failure: XMLReader.Malformed?) throws(ConnectionError) -> [MultistatusResponse] {
        if let problem = multistatus.problem { throw Self.violation(asked, problem.explanation) }
        if let failure { throw Self.violation(asked, failure.explanation) }
        var responses: [MultistatusResponse] = []
        for var response in multistatus.take() {
            response.href = asked.normalizedPath(of: response.href)
            // The answer does not tell the requested responses completely (RFC 6578, section 3.6).
            if response.status == 507, Self.withoutSlash(response.href) == ownPath {
                isTruncated = true
                errors += response.errors
            } else {
                responses.append(response)
            }
        }
        return responses
    }

    private static func withoutSlash(_ path: String) -> Substring { path.hasSuffix("/") ? path.dropLast() : path[...] }

    private static func violation(
        _ asked: ServerAddress, _ explanation: (text: String, hint: String?)
    ) -> ConnectionError {
        ConnectionError(.protocolViolation, "asking \(asked.withoutQuery): \(explanation.text)", hint: explanation.hint)
    }
}
