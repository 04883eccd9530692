import Model

/// The `Retry-After` field (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the wait that the field asks for; nil if the field cannot be used.
    /// - Parameters:
    ///   - field: The field's value.
    ///   - now: The time to compare a date with, preferably the server's own `Date`.
    static func duration(_ field: String, now: Timestamp) -> Duration? {
        let field = field.filter { $0 != " " || field.contains(",") }
        if let wait = OutsideNumber.wait(seconds: field) { return wait }
        guard let date = Timestamp(httpDate: field) else { return nil }
        return min(max(date - now, .zero), OutsideNumber.longestWait)
    }
}
