/// The identity of a plugin, for the host and for people, and the services that it uses.
///
/// ```swift
/// let description = PluginDescription(
///     id: "org.example.archive", name: "Archive", version: "1.4.2",
///     summary: "Keeps files that are older than five years", required: [.actions, .clock], wanted: [.log])
/// ```
public struct PluginDescription: Sendable {
    /// The id, a reversed domain: `org.example.archive`.
    public var id: String
    /// The name for people.
    public var name: String
    /// The plugin's own version: `1.4.2`.
    public var version: String
    /// The name of the author or company.
    public var vendor: String?
    /// The plugin's purpose: one sentence without a full stop.
    public var summary: String?
    /// The services that the plugin cannot work without. The host does not start it if one of them is withheld.
    public var required: [Service]
    /// The services that the plugin uses if it gets them.
    public var wanted: [Service]

    /// Creates a description. The host grants no service that is neither in `required` nor in `wanted`.
    public init(
        id: String, name: String, version: String, vendor: String? = nil, summary: String? = nil,
        required: [Service] = [], wanted: [Service] = []
    ) {
        self.id = id
        self.name = name
        self.version = version
        self.vendor = vendor
        self.summary = summary
        self.required = required
        self.wanted = wanted
    }

    /// Makes the ABI's form of the description, which lives as long as the process.
    func descriptor() -> UnsafePointer<larder_descriptor> {
        func names(_ services: [Service]) -> larder_str {
            services.isEmpty ? larder_str() : .lasting(services.map(\.name).joined(separator: " "))
        }
        let pointer = UnsafeMutablePointer<larder_descriptor>.allocate(capacity: 1)
        pointer.initialize(
            to: larder_descriptor(
                struct_size: UInt32(MemoryLayout<larder_descriptor>.size), reserved: 0, id: .lasting(id),
                name: .lasting(name), version: .lasting(version), vendor: vendor.map { .lasting($0) } ?? larder_str(),
                summary: summary.map { .lasting($0) } ?? larder_str(), required: names(required),
                wanted: names(wanted)))
        return UnsafePointer(pointer)
    }
}

/// A service of the host, by its name in the ABI. Name it in a ``PluginDescription``, and get it from a ``Host``.
///
/// ```swift
/// let clock = try host.require(host.clock, .clock)
/// ```
public struct Service: Hashable, Sendable {
    /// The name in the ABI, with a revision: `larder.log/1`.
    public let name: String

    /// Creates a service from its name in the ABI, for example one of a later version.
    public init(name: String) { self.name = name }

    /// ``Host/log``: lines in the host's log.
    public static let log = Service(name: LARDER_EXT_LOG)
    /// ``Host/settings()``: the plugin's settings.
    public static let config = Service(name: LARDER_EXT_CONFIG)
    /// ``Host/clock``: the time.
    public static let clock = Service(name: LARDER_EXT_CLOCK)
    /// ``Host/items``: all items that meet a condition.
    public static let items = Service(name: LARDER_EXT_ITEMS)
    /// ``Host/actions``: downloads, and removals of local copies.
    public static let actions = Service(name: LARDER_EXT_ACTIONS)
    /// ``Host/policies``: the policies of the processor's own kind.
    public static let policies = Service(name: LARDER_EXT_POLICIES)
    /// ``Host/values``: a small store of the plugin's own.
    public static let values = Service(name: LARDER_EXT_KV)
    /// ``Host/usage``: the room that local copies take, and the room that is left.
    public static let usage = Service(name: LARDER_EXT_USAGE)
    /// ``Host/records``: the records that event loops keep.
    public static let records = Service(name: LARDER_EXT_RECORDS)
    /// ``Host/projects``: state with steps, undo and redo.
    public static let projects = Service(name: LARDER_EXT_PROJECTS)
    /// ``Host/http``: requests to the account's server.
    public static let http = Service(name: LARDER_EXT_HTTP)
    /// ``Host/dav``: PROPFIND and REPORT requests.
    public static let dav = Service(name: LARDER_EXT_DAV)
    /// ``Host/discover``: the addresses of the account's calendars, address books and files.
    public static let discover = Service(name: LARDER_EXT_DISCOVER)
    /// ``Host/cancel``: whether the current call should end.
    public static let cancel = Service(name: LARDER_EXT_CANCEL)
}
