import HTTPTypes

/// A request to the calendar service.
struct CalendarRequest: Sendable {
    var method: String
    var target: CalendarTarget
    /// The path as it was sent, without a query.
    var path: String
    /// Scheme and host as the client has them: `http://127.0.0.1:8000`.
    var origin: String
    var fields: HTTPFields
    var body: [UInt8]
}
