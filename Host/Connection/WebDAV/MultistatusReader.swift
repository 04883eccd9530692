import Model

/// Makes responses of a multistatus while it arrives. Not for use by two threads at a time.
///
/// What is held is what one piece of the answer makes, and 16 MiB of text at most of a response that is not complete.
final class MultistatusReader {
    private let multistatus: Multistatus<TextResponseBuilder>
    private let xml: XMLReader
    private let asked: ServerAddress
    private let ownPath: Substring
    private var isTruncated = false
    private var errors: [String] = []

    /// - Parameters:
    ///   - asked: the address that the answer is to.
    ///   - mostText: how much text a response may have, in bytes.
    init(
        _ properties: AskedProperties, asked: ServerAddress, mostText: Int = 16 << 20
    ) throws(ConnectionError) {
        self.asked = asked
        ownPath = Self.withoutSlash(asked.normalizedPath)
        multistatus = Multistatus(TextResponseBuilder(properties, mostText: mostText))
        do { xml = try XMLReader(handler: multistatus) } catch {
            throw Self.violation(asked, ("it cannot be read: \(error.reason)", nil))
        }
    }

    /// Reads on.
    /// - Returns: the responses that are complete by now.
    func read(_ bytes: UnsafeRawBufferPointer) throws(ConnectionError) -> [MultistatusResponse] {
        var failure: XMLReader.Malformed?
        do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { failure = error }
        return try responses(failure)
    }

    /// Says that the answer has ended.
    /// - Throws: if the document is not complete: what came is then not all.
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
            // RFC 6578, section 3.6: what was asked for is not told completely.
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
