/// What a plugin is, for the host and for people.
public struct PluginDescription: Sendable {
    /// Reversed domain: `org.example.archive`.
    public var id: String
    public var name: String
    public var version: String
    public var vendor: String?
    /// What it does: one sentence without a full stop.
    public var summary: String?
    /// What it cannot work without: it is not started if one of these is withheld.
    public var required: [Service]
    /// What it uses if it is granted.
    public var wanted: [Service]

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

    /// The same in the host's terms, for as long as the process lives.
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

/// A service of the host, by the name that it has in the ABI.
public struct Service: Hashable, Sendable {
    public let name: String

    public init(name: String) { self.name = name }

    public static let log = Service(name: LARDER_EXT_LOG)
    public static let config = Service(name: LARDER_EXT_CONFIG)
    public static let clock = Service(name: LARDER_EXT_CLOCK)
    public static let items = Service(name: LARDER_EXT_ITEMS)
    public static let actions = Service(name: LARDER_EXT_ACTIONS)
    public static let policies = Service(name: LARDER_EXT_POLICIES)
    public static let values = Service(name: LARDER_EXT_KV)
    public static let usage = Service(name: LARDER_EXT_USAGE)
    public static let records = Service(name: LARDER_EXT_RECORDS)
    public static let projects = Service(name: LARDER_EXT_PROJECTS)
    public static let http = Service(name: LARDER_EXT_HTTP)
    public static let dav = Service(name: LARDER_EXT_DAV)
    public static let discover = Service(name: LARDER_EXT_DISCOVER)
    public static let cancel = Service(name: LARDER_EXT_CANCEL)
}
