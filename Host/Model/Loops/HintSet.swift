/// What a server announces between two polls: a hint to look now, never the truth.
public struct HintSet: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Files and folders.
    public static let items = HintSet(rawValue: 1)
    public static let shares = HintSet(rawValue: 2)
    /// Spaces, memberships, notifications of any kind.
    public static let account = HintSet(rawValue: 4)
}
