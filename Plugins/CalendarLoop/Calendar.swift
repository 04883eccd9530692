import LarderSDK

/// A calendar, as the core loop's record describes it.
struct Calendar {
    /// The sync-token in the core loop's listing. Nil: the server does not say.
    var syncToken: String?
    var ctag: String?
    var supportsSync: Bool
    /// A property that another calendar at the same path does not share: an id (RFC 5842) or the time of creation. Nil:
    /// the server does not say.
    var identity: String?
    /// The address of an events endpoint in plain JSON that has the calendar's objects.
    var events: String?

    init(_ key: String, _ records: Host.Records) throws(PluginError) {
        guard let record = try records.record(key, in: "calendars", .value) else {
            throw PluginError(.notFound, "the calendar \(key) is no longer known")
        }
        let json = record.value.isEmpty ? .object([]) : try JSON(parsing: record.value)
        syncToken = json["syncToken"]?.string
        // A server may have tokens without the reports that they are for. The tokens show changes all the same.
        ctag = json["ctag"]?.string ?? syncToken
        supportsSync = json["supportsSync"]?.boolean ?? false
        identity = json["identity"]?.string
        events = json["events"]?.string
    }
}
