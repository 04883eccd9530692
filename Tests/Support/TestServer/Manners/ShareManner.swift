/// The manner in which a server lists shares, where servers differ. The defaults are those of ownCloud 10.
public struct ShareManner: Sendable {
    /// The listing of shares that the user has not accepted yet.
    public enum Pending: Sendable {
        /// In the same listing, with `state=1` or `state=all` (ownCloud).
        case byState
        /// At the address `shares/pending` (Nextcloud).
        case byAddress
    }

    /// Whether the server has a sharing service. Without it the capabilities do not mention sharing, and the service's
    /// addresses are 404.
    public var offered = true
    /// Whether sharing is switched on. If not, the capabilities say so, and listings succeed with nothing in them.
    public var enabled = true
    /// The listing of shares that the user has not accepted yet.
    public var pending = Pending.byState
    /// Whether version 2 also reports success as 100, as its documentation says.
    public var alwaysHundred = false
    /// Whether the server writes numbers as texts.
    public var numbersAsText = false
    /// Whether the server writes the fields of objects in reverse order.
    public var fieldsReversed = false

    public init() {}
}
