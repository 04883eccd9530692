/// The author of a change of policies, and the time of the change.
public struct PolicyAuthor: Hashable, Codable, Sendable {
    /// A person, a plugin or the host.
    public enum Who: Hashable, Codable, Sendable {
        /// A person, by the login name, or by `uid` and the number if there is no name.
        case person(String)
        case plugin(PluginID)
        /// The host itself, for example when the target of a policy is gone.
        case host
    }

    /// The author.
    public var who: Who
    /// The time of the change.
    public var time: Timestamp

    /// Creates an author with a time.
    public init(_ who: Who, at time: Timestamp) {
        self.who = who
        self.time = time
    }

    /// Creates a person with a time.
    public static func person(_ name: String, at time: Timestamp) -> PolicyAuthor { .init(.person(name), at: time) }
    /// Creates a plugin with a time.
    public static func plugin(_ id: PluginID, at time: Timestamp) -> PolicyAuthor { .init(.plugin(id), at: time) }
    /// Creates the host with a time.
    public static func host(at time: Timestamp) -> PolicyAuthor { .init(.host, at: time) }

    /// Whether the author is a person.
    public var isPerson: Bool { if case .person = who { true } else { false } }
}
