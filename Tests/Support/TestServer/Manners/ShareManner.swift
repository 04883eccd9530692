/// How a server tells of shares, where servers differ. Without changes it behaves as ownCloud 10 does.
public struct ShareManner: Sendable {
    /// How shares are told of that the user has not accepted yet.
    public enum Pending: Sendable {
        /// In the same listing, with `state=1` or `state=all` (ownCloud).
        case byState
        /// At `shares/pending` (Nextcloud).
        case byAddress
    }

    /// Whether there is a sharing service at all; without it the capabilities say nothing of it and its addresses are 404.
    public var offered = true
    /// Whether sharing is switched on; if not, the capabilities say so, and listings are empty successes.
    public var enabled = true
    public var pending = Pending.byState
    /// Whether version 2 says 100 for success too, as it is documented.
    public var alwaysHundred = false
    public var numbersAsText = false
    public var fieldsReversed = false

    public init() {}
}
