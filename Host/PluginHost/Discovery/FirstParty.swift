public import Model

/// The plugins that come with the host. They get nothing that a stranger's plugin does not get; the host knows only their
/// names, so that it can say when one is missing.
public enum FirstParty {
    /// The names of the libraries that this build comes with.
    static let libraryNames = ["AvailableOffline"]

    /// The order in which the original runs its processors; all others follow by id (P9).
    private static let order = ["available-offline", "download-expiration", "vacuum", "version-updates"]
        .map { PluginID(shortOrFull: $0) }

    public static let ids: [PluginID] = libraryNames.map { PluginID(shortOrFull: kebab($0)) }

    /// `AvailableOffline` → `available-offline`.
    static func kebab(_ name: String) -> String {
        var words = ""
        for character in name.unicodeScalars {
            let isCapital = ("A"..."Z").contains(character)
            if isCapital && !words.isEmpty { words += "-" }
            words.unicodeScalars.append(isCapital ? Unicode.Scalar(character.value + 32) ?? character : character)
        }
        return words
    }

    /// `available-offline` → `AvailableOffline`.
    static func pascal(_ name: some StringProtocol) -> String {
        name.split(separator: "-").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The file name of a first-party plugin's library; nil if this build has no such plugin.
    static func library(of id: PluginID) -> String? {
        libraryNames.first { PluginID(shortOrFull: kebab($0)) == id }.map { "lib\($0).so" }
    }

    /// Whether `a`'s processors are called before `b`'s.
    public static func precedes(_ a: PluginID, _ b: PluginID) -> Bool {
        switch (order.firstIndex(of: a), order.firstIndex(of: b)) {
        case (let a?, let b?): a < b
        case (_?, nil): true
        case (nil, _?): false
        case (nil, nil): a < b
        }
    }
}
