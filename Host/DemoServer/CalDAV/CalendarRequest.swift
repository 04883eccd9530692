package import HTTPTypes

/// A request to the calendar service.
package struct CalendarRequest: Sendable {
    package let method: String
    package let target: CalendarTarget
    /// The path as it was sent, without a query.
    package let path: String
    /// Scheme and host as the client uses them: `http://127.0.0.1:8000`.
    package let origin: String
    package let fields: HTTPFields
    package let body: [UInt8]

    package init(_ asked: inout Asked, _ target: CalendarTarget) async throws {
        body = try await asked.collect()
        (method, self.target, path, origin) = (asked.method, target, String(asked.path), asked.origin)
        fields = asked.fields
    }
}
