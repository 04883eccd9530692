/// A plugin that polls a server for news and keeps the results as records. Conform a struct to it and pass its type to
/// ``export(_:to:)``.
///
/// The host calls it on one thread at a time. `init` starts the work, and the end of the value stops it. The host
/// commits a turn's requests together with the page's event id, and drops them when a call throws.
///
/// ```swift
/// struct Headlines: EventLoop {
///     static let description = PluginDescription(
///         id: "org.example.headlines", name: "Headlines", version: "1.0.0", required: [.records])
///     static let kind = "org.example.headlines"
///
///     private let records: Host.Records
///
///     init(host: Host) throws(PluginError) { records = try host.require(host.records, .records) }
///
///     mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<[Record]> {
///         EventPage(eventID: eventID, content: [])
///     }
///
///     mutating func process(_ page: EventPage<[Record]>, of loop: String) throws(PluginError) {
///         for record in page.content { try records.put(record, in: Self.kind) }
///     }
///
///     mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor {
///         try records.put(Record(key: "1", value: #"{"title": "Rain"}"#), in: Self.kind)
///         return Anchor(eventID: "1")
///     }
/// }
/// ```
public protocol EventLoop: SendableMetatype {
    /// The content of a page, which ``poll(_:since:)`` reads and ``process(_:of:)`` applies.
    associatedtype Content

    /// The plugin's identity and the services that it uses.
    static var description: PluginDescription { get }
    /// The kind of the plugin's loops: letters and digits, or the plugin's id. It is unique among the plugins of a
    /// host.
    static var kind: String { get }
    /// The collection of which each record is a loop. Nil: the plugin has one loop, whose id is ``kind``.
    static var collection: String? { get }
    /// The bits of a page's `refresh` for which the host calls ``refresh(_:of:)`` one by one; together they are
    /// everything. Empty: the plugin can only refresh everything.
    static var refreshBits: RefreshSet { get }
    /// The announcements of the server after which the host polls the loops at once.
    static var hints: HintSet { get }
    /// The JSON Schema of the plugin's settings. Nil: it has none.
    static var settingsSchema: String? { get }

    /// Starts the plugin: asks for services and reads the settings.
    /// - Throws: A ``PluginError`` if the loop cannot work. The host then refuses the plugin, and shows the message to
    ///   people as the reason.
    init(host: Host) throws(PluginError)

    /// Asks the server for changes.
    /// - Parameters:
    ///   - loop: The loop's id: the key of its record, or ``kind`` without a ``collection``.
    ///   - eventID: The loop's position, as an earlier page or anchor set it.
    /// - Returns: The page after that position.
    /// - Throws: ``Status/unsupported`` if there is nothing to poll: the host asks the loop again a day later. Any
    ///   other ``PluginError`` fails the turn: the loop keeps its event id, and the host asks it again later.
    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Content>

    /// Applies a page to the loop's records.
    /// - Parameters:
    ///   - page: The result of ``poll(_:since:)``.
    ///   - loop: The loop's id.
    /// - Throws: A ``PluginError`` that fails the turn: the host commits none of the turn's requests, and the page
    ///   comes again.
    mutating func process(_ page: EventPage<Content>, of loop: String) throws(PluginError)

    /// Takes a new anchor, then fetches everything, or the part that a bit of ``refreshBits`` names.
    /// - Parameters:
    ///   - what: One bit of ``refreshBits``, or ``RefreshSet/everything``.
    ///   - loop: The loop's id.
    /// - Returns: The anchor. Its `more` may be true only with ``RefreshSet/everything``.
    /// - Throws: ``Status/unsupported`` if there is nothing to poll, as ``poll(_:since:)``. Any other
    ///   ``PluginError`` fails the turn: the host commits none of the turn's requests, and asks for the refresh again.
    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor

    /// Tells the loop why a turn failed, or that its cache cannot be used any more. It may read records, but not change
    /// them.
    mutating func onError(_ error: LoopError, of loop: String)
}

/// The defaults of the members that a simple loop need not write.
extension EventLoop {
    public static var collection: String? { nil }
    public static var refreshBits: RefreshSet { [] }
    public static var hints: HintSet { [] }
    public static var settingsSchema: String? { nil }
    public mutating func onError(_ error: LoopError, of loop: String) {}
}

/// The functions of the ABI's table, generic over the loop's type. A page's content stays in memory of this library
/// between two calls.
extension EventLoop {
    mutating func poll(_ loop: larder_loop, out: UnsafeMutablePointer<larder_event_page>) throws(PluginError) {
        let id = Text(unsafe: loop.id).copied()
        let page = try poll(id, since: Text(unsafe: loop.event_id).copied())
        out.pointee.fill(page.eventID, refresh: page.refresh, more: page.more)
        let kept = UnsafeMutablePointer<EventPage<Content>>.allocate(capacity: 1)
        kept.initialize(to: page)
        out.pointee.content = UnsafeMutableRawPointer(kept)
    }

    mutating func process(_ loop: larder_loop, _ page: larder_event_page) throws(PluginError) {
        guard let content = page.content else { throw PluginError(.internal, "the host passed a page without content") }
        try process(
            content.assumingMemoryBound(to: EventPage<Content>.self).pointee, of: Text(unsafe: loop.id).copied())
    }

    mutating func refresh(
        _ loop: larder_loop, what: UInt32, out: UnsafeMutablePointer<larder_event_page>
    ) throws(PluginError) {
        let anchor = try refresh(RefreshSet(rawValue: what), of: Text(unsafe: loop.id).copied())
        out.pointee.fill(anchor.eventID, refresh: [], more: anchor.more)
    }

    func release(_ page: UnsafeMutablePointer<larder_event_page>) {
        if let content = page.pointee.content?.assumingMemoryBound(to: EventPage<Content>.self) {
            content.deinitialize(count: 1)
            content.deallocate()
        }
        page.pointee.event_id.free()
        page.pointee.event_id = larder_str()
        page.pointee.content = nil
    }
}

extension larder_event_page {
    fileprivate mutating func fill(_ eventID: String, refresh: RefreshSet, more: Bool) {
        event_id = .lasting(eventID)
        self.refresh = refresh.rawValue
        self.more = more ? 1 : 0
    }
}
