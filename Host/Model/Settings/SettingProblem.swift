/// A problem with one of a plugin's own settings.
public struct SettingProblem: Hashable, Sendable {
    /// The kind of problem.
    public enum Kind: Hashable, Sendable {
        /// A setting that does not exist. `among` lists the existing settings, in the schema's order.
        case unknown(among: [String])
        /// A wrong value. The text continues a sentence that begins with the setting's name: `must be at least 1`.
        case wrong(String)
    }

    /// The names of the settings that contain the setting, followed by its own name: `events`, `url`. What is in a list
    /// has its position, from 1, in brackets: `rules`, `[2]`, `match`. Empty for the settings as a whole.
    public var keys: [String]
    /// The kind of problem.
    public var kind: Kind
    /// The name of the account for which the setting is different. Nil means: it is a setting for all accounts.
    public var account: String?

    /// Creates a problem.
    public init(_ keys: [String], _ kind: Kind, account: String? = nil) {
        self.keys = keys
        self.kind = kind
        self.account = account
    }

    /// The keys as a text: `events.url`, `rules[2].match`.
    public static func path(of keys: some Sequence<String>) -> String {
        keys.reduce("") { $0 + ($0.isEmpty || $1.hasPrefix("[") ? $1 : ".\($1)") }
    }

    /// The problem as a sentence without a full stop, for readers who do not see the config.
    public var text: String {
        let name = "`\(Self.path(of: keys))`" + (account.map { " of the account \($0)" } ?? "")
        switch kind {
        case .wrong(let message): return keys.isEmpty ? message : "\(name) \(message)"
        case .unknown(let known):
            let taker = keys.count > 1 ? "`\(Self.path(of: keys.dropLast()))`" : "the plugin"
            let names = known.map { "`\($0)`" }.joined(separator: ", ")
            return "\(name) is unknown: \(taker) takes \(known.isEmpty ? "no settings" : names)"
        }
    }
}
