/// A plugin that asks a server what is new, and keeps what it learned as records. Conform a struct to it and hand its type to
/// ``export(_:to:)``.
///
/// The host calls it on one thread at a time. `init` is the start of the work and the end of the value its stop. What a turn asks
/// of the host is committed together with the page's event id, and forgotten when a call throws.
public protocol EventLoop: SendableMetatype {
    /// What ``poll(_:since:)`` read and ``process(_:of:)`` applies.
    associatedtype Content

    static var description: PluginDescription { get }
    /// Of its loops: `calendar`.
    static var kind: String { get }
    /// Whose records each mean a loop; nil: it has one loop, whose id is ``kind``.
    static var collection: String? { get }
    /// The bits of a page's `refresh` for which ``refresh(_:of:)`` is called one by one; together they are everything. Empty: there
    /// is only everything.
    static var refreshBits: RefreshSet { get }
    /// Which announcements of the server's make its loops be asked at once.
    static var hints: HintSet { get }
    /// The JSON Schema of its settings; nil: it has none.
    static var settingsSchema: String? { get }

    /// Starts: asks for services and reads the settings.
    /// - Throws: A ``PluginError`` if the loop cannot work. The plugin is then refused, and the message is the reason
    ///   that people see.
    init(host: Host) throws(PluginError)

    /// Asks what is new.
    /// - Parameters:
    ///   - loop: the loop's id: the key of its record.
    ///   - eventID: how far it has come.
    /// - Throws: ``Status/unsupported`` if there is nothing to poll here: the loop is asked again a day later. Any
    ///   other ``PluginError`` fails the turn: the loop keeps its event id and is asked again later.
    mutating func poll(_ loop: String, since eventID: String) throws(PluginError) -> EventPage<Content>

    /// Applies a page to the loop's records.
    /// - Throws: A ``PluginError`` that fails the turn: nothing that was asked for is committed, and the page comes
    ///   again.
    mutating func process(_ page: EventPage<Content>, of loop: String) throws(PluginError)

    /// Takes a new anchor, then fetches everything, or the part that a bit of ``refreshBits`` names.
    /// - Throws: ``Status/unsupported`` if there is nothing to poll here, as ``poll(_:since:)``. Any other
    ///   ``PluginError`` fails the turn: nothing that was asked for is committed, and the refresh is asked for again.
    mutating func refresh(_ what: RefreshSet, of loop: String) throws(PluginError) -> Anchor

    /// Hears why a turn failed, or that what is cached cannot be used any more.
    mutating func onError(_ error: LoopError, of loop: String)
}

/// What a loop that does not care need not write.
extension EventLoop {
    public static var collection: String? { nil }
    public static var refreshBits: RefreshSet { [] }
    public static var hints: HintSet { [] }
    public static var settingsSchema: String? { nil }
    public mutating func onError(_ error: LoopError, of loop: String) {}
}

/// The functions of the table, for whatever type: what a page holds stays behind a pointer of ours between two calls.
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
        guard let content = page.content else { throw PluginError(.internal, "the host passed no page of ours") }
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
