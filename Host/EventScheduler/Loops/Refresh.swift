/// What of a loop's cache is too old to be brought up to date by events: bits of the loop's own.
public struct Refresh: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    public static let nothing: Refresh = []
    /// All eight bits that sources use.
    public static let everything = Refresh(rawValue: 0xff)

    /// A flag that came as a number.
    public init(number: Int64) { rawValue = UInt64(bitPattern: number) }

    /// A flag that came as true or false.
    public init(_ isOutdated: Bool) { self = isOutdated ? .everything : .nothing }

    /// What is to be fetched, by a loop that has these handlers.
    func plan(handlers: [Refresh]) -> RefreshPlan {
        let handled = handlers.reduce(into: Refresh.nothing) { $0.formUnion($1) }
        guard !handlers.isEmpty, self == .everything || isSubset(of: handled) else { return .everything }
        return .parts(handlers.filter { !isDisjoint(with: $0) })
    }
}

/// What a loop is to fetch anew.
public enum RefreshPlan: Sendable, Hashable {
    case everything
    /// What these of the loop's refresh handlers stand for, each once, in the order in which the loop names them.
    case parts([Refresh])
}
