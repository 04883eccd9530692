import HTTPTypes
import NIOCore

/// An answer before it is sent: faults may still change it.
struct Answer: Sendable {
    enum Body: Sendable {
        case bytes(ByteBuffer)
        /// A part of a file.
        case content(Content, Range<Int>)
        /// Text that is made while it is sent.
        case chunks(@Sendable ((ByteBuffer) async throws -> Void) async throws -> Void)
    }

    var status: HTTPResponse.Status
    var fields = HTTPFields()
    var body = Body.bytes(ByteBuffer())

    init(_ status: HTTPResponse.Status) { self.status = status }

    init(_ status: HTTPResponse.Status, type: String, text: String) {
        self.status = status
        fields[.contentType] = type
        body = .bytes(ByteBuffer(string: text))
    }

    /// nil if it is not known before it is made.
    var length: Int? {
        switch body {
        case .bytes(let buffer): buffer.readableBytes
        case .content(_, let range): range.count
        case .chunks: nil
        }
    }

    func send(to sink: (ByteBuffer) async throws -> Void) async throws {
        switch body {
        case .bytes(let buffer): try await sink(buffer)
        case .content(let content, let range): try await content.send(range, to: sink)
        case .chunks(let produce): try await produce(sink)
        }
    }

    static func refusal(_ refusal: Refusal) -> Answer {
        switch refusal {
        case .notFound: Answer(.notFound)
        case .noParent: Answer(.conflict)
        case .exists, .wrongKind: Answer(.methodNotAllowed)
        case .intoItself: Answer(.forbidden)
        case .preconditionFailed: Answer(.preconditionFailed)
        }
    }
}

extension HTTPFields {
    /// A field by a name that is written in this code.
    subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}
