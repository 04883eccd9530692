import Model

/// The `Retry-After` field (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// How long to wait; nil if the field says nothing of use.
    /// - Parameter now: the clock that a date is compared with; best the server's own `Date`.
    static func duration(_ field: String, now: Timestamp) -> Duration? {
        let field = field.filter { $0 != " " || field.contains(",") }
        if let wait = OutsideNumber.wait(seconds: field) { return wait }
        guard let date = Timestamp(httpDate: field) else { return nil }
        return min(max(date - now, .zero), OutsideNumber.longestWait)
    }
}
