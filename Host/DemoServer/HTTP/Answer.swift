package import HTTPTypes

/// An answer before it is sent.
package struct Answer: Sendable {
    package typealias Sink = ([UInt8]) async throws -> Void

    package enum Body: Sendable {
        case bytes([UInt8])
        /// A part of a file.
        case content(Content, Range<Int>)
        /// Bytes that are produced while they are sent. Without a length, their number is not known in advance.
        case chunks(length: Int? = nil, @Sendable (Sink) async throws -> Void)
    }

    package var status: HTTPResponse.Status
    package var fields = HTTPFields()
    package var body = Body.bytes([])

    package init(_ status: HTTPResponse.Status) { self.status = status }

    package init(_ status: HTTPResponse.Status, type: String, text: String) {
        self.status = status
        fields[.contentType] = type
        body = .bytes(Array(text.utf8))
    }

    /// The length of the body in bytes; nil if it is not known before the body is produced.
    package var length: Int? {
        switch body {
        case .bytes(let bytes): bytes.count
        case .content(_, let range): range.count
        case .chunks(let length, _): length
        }
    }

    package func send(to sink: Sink) async throws {
        switch body {
        case .bytes(let bytes): try await sink(bytes)
        case .content(let content, let range): try await content.send(range, to: sink)
        case .chunks(_, let produce): try await produce(sink)
        }
    }
}

extension HTTPFields {
    /// The field with a name that this code spells out.
    package subscript(named name: String) -> String? {
        get { HTTPField.Name(name).flatMap { self[$0] } }
        set { if let name = HTTPField.Name(name) { self[name] = newValue } }
    }
}
