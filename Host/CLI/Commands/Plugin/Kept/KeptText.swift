import Core
import FoundationEssentials
import Model

/// Functions that show what a plugin keeps. Keys and values are any bytes, of any origin.
enum KeptText {
    /// The highest number of characters of a key or a value that is shown to people.
    private static let longest = 120

    /// Returns a size for the first column.
    static func size(_ bytes: Int64?) -> String { Text.padded(Text.bytes(bytes), to: 7, atRight: true) }

    /// Returns the beginning of the bytes for people: as visible text, or with a leading `0x` and two digits a byte if they
    /// are not UTF-8 or have control characters that no text has. An ellipsis says that there is more.
    static func shown(_ bytes: [UInt8]) -> String {
        let start = bytes.prefix(longest * 4)
        var end = start.endIndex
        // The beginning does not end within a scalar.
        while end < bytes.endIndex, bytes[end] & 0xc0 == 0x80, start.endIndex - end < 3 { end -= 1 }
        guard let text = String(validating: start[..<end], as: UTF8.self),
            !text.unicodeScalars.contains(where: isBinary)
        else {
            let digits = bytes.prefix(longest / 2).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            return "0x" + digits.joined() + (digits.count < bytes.count ? "…" : "")
        }
        let visible = Text.visible(text)
        let cut = Text.cut(visible, to: longest)
        return cut + (cut.utf8.count < visible.utf8.count || end < bytes.count ? "…" : "")
    }

    /// Returns all the bytes for programs: as text if they are UTF-8, else as base64, with the name of the encoding.
    static func whole(_ bytes: [UInt8]) -> (text: String, encoding: String) {
        if let text = String(validating: bytes, as: UTF8.self) { return (text, "utf-8") }
        return (Data(bytes).base64EncodedString(), "base64")
    }

    private static func isBinary(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\n", "\r": false
        default: scalar.value < 0x20 || scalar.value == 0x7f
        }
    }
}

extension Config {
    /// Returns the plugin whose values or records a command shows: one that the config names or that comes with Larder,
    /// one that is gone and left something in the account, or one whose library is found.
    /// - Parameter reader: The account's reader; nil if nothing is known of the account yet.
    /// - Throws: `notFound` if there is no such plugin, or as ``AccountReader/keeps(_:)``.
    func keeper(
        _ name: String, _ reader: AccountReader?, _ account: AccountConfig, _ console: Console
    ) async throws(Failure) -> PluginID {
        let id = PluginID(shortOrFull: name)
        if firstPartyNames.contains(id.shortName) || pluginSettings(of: id) != nil { return id }
        if try await reader?.keeps(id) == true { return id }
        return try await triedPlugins(self, console, rememberedBy: account).named(name).id
    }

    /// The settings of a plugin that the config names.
    func pluginSettings(of id: PluginID) -> PluginSettings? { settings.plugins.first { $0.id == id } }
}

extension Console {
    /// Ends a list of what a plugin keeps with its count and size.
    /// - Parameters:
    ///   - noun: What is listed, in the singular.
    ///   - quota: The room that the plugin has for it, in bytes; nil if only a part is listed.
    func show(_ total: KeptTotal, _ noun: String, of id: PluginID, quota: Int64?, isJSON: Bool) {
        if isJSON {
            print(
                .object([
                    "total": .object([
                        "\(noun)s": .integer(total.count), "bytes": .integer(total.bytes), "quota": .integer(quota),
                    ])
                ]))
        } else if total.count == 0 {
            note("\(id.shortName) keeps no \(noun)s in this account")
        } else {
            let room = quota.map { " of \(ConfigScalar.writeSize($0))" } ?? ""
            print("\(Text.count(total.count, noun)), \(ConfigScalar.writeSize(total.bytes))\(room)")
        }
    }
}
