import LarderSDK

/// The facts that a calendar's loop remembers besides its event id.
struct Memory {
    /// The time of the last comparison of the listing with the records, in seconds since 1970.
    var compared: Int64?
    /// The calendar's sync-token, if it stays different from the token of its reports and so shows no changes.
    var mismatch: String?
    /// The identity of the calendar that the records belong to, if the server tells it.
    var identity: String?

    private static let day: Int64 = 86_400

    init(of loop: String, in values: Host.Values) throws(PluginError) {
        guard let text = try values.value(of: Self.key(loop)) else { return }
        let json = try JSON(parsing: text.span)
        compared = json["compared"]?.integer
        mismatch = json["mismatch"]?.string
        identity = json["identity"]?.string
    }

    func keep(for loop: String, in values: Host.Values) throws(PluginError) {
        let json = JSON.object(of: [
            "compared": compared.map { .integer($0) }, "mismatch": mismatch.map { .string($0) },
            "identity": identity.map { .string($0) },
        ])
        try values.set(Self.key(loop), to: Array(json.text.utf8))
    }

    /// Tells whether a day has passed since the last comparison, or the clock was set back.
    func isComparisonDue(at now: Int64) -> Bool {
        guard let compared else { return true }
        return now < compared || now.subtractingSaturated(compared) >= Self.day
    }

    /// Returns the key in the plugin's store. A key has at most 1 KiB, but a calendar's path has up to 4 KiB.
    private static func key(_ loop: String) -> String {
        guard loop.utf8.count > 512 else { return "calendar:" + loop }
        var digest = Digest()
        digest.add(loop)
        return "calendar:" + digest.text
    }
}
