import LarderSDK

/// A calendar, as the core loop's record has it.
struct Calendar {
    /// Of the listing; nil: it does not tell.
    var syncToken: String?
    var ctag: String?
    var supportsSync: Bool
    /// What another calendar at the same path does not have (RFC 5842, or when it was made); nil: the server does not tell.
    var identity: String?
    /// The address of an events endpoint in plain JSON that tells of it.
    var events: String?

    init(_ key: String, _ records: Host.Records) throws(PluginError) {
        guard let record = try records.record(key, in: "calendars", .value) else {
            throw PluginError(.notFound, "the calendar \(key) is not known any more")
        }
        let json = record.value.isEmpty ? .object([]) : try JSON(parsing: record.value)
        syncToken = json["syncToken"]?.string
        // A server may have tokens and not the reports that they are for: they tell of changes all the same.
        ctag = json["ctag"]?.string ?? syncToken
        supportsSync = json["supportsSync"]?.boolean ?? false
        identity = json["identity"]?.string
        events = json["events"]?.string
    }
}
