/// The subjects of a server's announcement between two polls. An announcement is a hint to poll now, never the truth.
public struct HintSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Files and folders.
    public static let items = HintSet(rawValue: 1)
    /// Shares.
    public static let shares = HintSet(rawValue: 2)
    /// Spaces, memberships, notifications of any kind.
    public static let account = HintSet(rawValue: 4)
}
