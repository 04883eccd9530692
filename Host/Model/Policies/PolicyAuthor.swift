/// Who changes policies, and when.
public struct PolicyAuthor: Hashable, Sendable {
    /// A person, a plugin or the host.
    public enum Who: Hashable, Sendable {
        /// By the login name, else `uid` and the number.
        case person(String)
        case plugin(PluginID)
        /// The host itself, such as when what a policy was for is gone.
        case host
    }

    public var who: Who
    public var time: Timestamp

    public init(_ who: Who, at time: Timestamp) {
        self.who = who
        self.time = time
    }

    public static func person(_ name: String, at time: Timestamp) -> PolicyAuthor { .init(.person(name), at: time) }
    public static func plugin(_ id: PluginID, at time: Timestamp) -> PolicyAuthor { .init(.plugin(id), at: time) }
    public static func host(at time: Timestamp) -> PolicyAuthor { .init(.host, at: time) }

    public var isPerson: Bool { if case .person = who { true } else { false } }
}
