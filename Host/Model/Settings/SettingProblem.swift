/// What is wrong with one of a plugin's own settings.
public struct SettingProblem: Hashable, Sendable {
    /// What is wrong.
    public enum Kind: Hashable, Sendable {
        /// There is no such setting; there are these, in the schema's order.
        case unknown(among: [String])
        /// The value does not do; the text goes on behind the setting's name: `must be at least 1`.
        case wrong(String)
    }

    /// The setting's name behind those of the settings that hold it: `events`, `url`. Empty: the settings as a whole.
    public var keys: [String]
    public var kind: Kind

    public init(_ keys: [String], _ kind: Kind) {
        self.keys = keys
        self.kind = kind
    }

    /// A sentence without its end, for who does not see the config.
    public var text: String {
        let name = "`\(keys.joined(separator: "."))`"
        switch kind {
        case .wrong(let message): return keys.isEmpty ? message : "\(name) \(message)"
        case .unknown(let known):
            let taker = keys.count > 1 ? "`\(keys.dropLast().joined(separator: "."))`" : "the plugin"
            let names = known.map { "`\($0)`" }.joined(separator: ", ")
            return "\(name) is unknown: \(taker) takes \(known.isEmpty ? "no settings" : names)"
        }
    }
}
