import LarderSDK

/// What the loop of a calendar remembers besides its event id.
struct Memory {
    /// When the listing was compared with the records last, in seconds since 1970.
    var compared: Int64?
    /// The calendar's sync-token that stays another one than that of its reports, and so tells nothing.
    var mismatch: String?
    /// Which calendar the records are of, if the server tells.
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

    /// Whether a day has gone by, or the clock was set back.
    func isComparisonDue(at now: Int64) -> Bool {
        guard let compared else { return true }
        return now < compared || now.subtractingSaturated(compared) >= Self.day
    }

    /// A key has at most 1 KiB, a calendar's path up to four.
    private static func key(_ loop: String) -> String {
        guard loop.utf8.count > 512 else { return "calendar:" + loop }
        var digest = Digest()
        digest.add(loop)
        return "calendar:" + digest.text
    }
}
