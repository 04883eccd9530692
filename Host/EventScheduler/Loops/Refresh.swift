/// The parts of a loop's cache that are too old to be brought up to date by events. The bits are the loop's own.
public struct Refresh: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt64
    /// Creates a value from its bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// No part.
    public static let nothing: Refresh = []
    /// All eight bits that sources use.
    public static let everything = Refresh(rawValue: 0xff)

    /// Creates a value from a flag that came as a number.
    public init(number: Int64) { rawValue = UInt64(bitPattern: number) }

    /// Creates a value from a flag that came as true or false.
    public init(_ isOutdated: Bool) { self = isOutdated ? .everything : .nothing }

    /// Returns the parts to fetch for a loop that has these handlers.
    func plan(handlers: [Refresh]) -> RefreshPlan {
        let handled = handlers.reduce(into: Refresh.nothing) { $0.formUnion($1) }
        guard !handlers.isEmpty, self == .everything || isSubset(of: handled) else { return .everything }
        return .parts(handlers.filter { !isDisjoint(with: $0) })
    }
}

/// The parts of its cache that a loop is to fetch anew.
public enum RefreshPlan: Sendable, Hashable {
    /// The whole cache.
    case everything
    /// The parts of these refresh handlers of the loop, each once, in the order in which the loop names the handlers.
    case parts([Refresh])
}
