public import Model

/// What stands behind a plugin's services during a turn of an event loop. Used on the plugin's thread alone, where all of it may
/// block.
public protocol LoopTurn: AnyObject {
    /// Whether the call under way should end. Read on the plugin's thread, set from any.
    var isCancelled: Bool { get }

    /// When the call under way is given up, on the clock's ``HostClock/monotonic``; nil: never.
    var deadline: Duration? { get }

    /// Whether the loop may change this record.
    func mayWrite(_ key: RecordKey, in collection: RecordCollection) -> Bool

    /// A stored record; nil if there is none.
    /// - Throws: `LARDER_IO` if it cannot be read.
    func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields
    ) throws(ServiceError) -> Record?

    /// The stored records of a collection, in the order of their keys.
    /// - Throws: `LARDER_IO` if they cannot be read, if that shows before the first.
    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) throws(ServiceError) -> any RecordSource

    /// The stored value of a key of the plugin's own; nil if there is none.
    /// - Throws: `LARDER_IO` if it cannot be read.
    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]?

    /// Sends a request and returns when the answer's head is there.
    /// - Throws: `LARDER_IO` without an answer, and for one that the host deals with itself; `LARDER_DENIED` for a
    ///   request that is not sent; `LARDER_CANCELLED` if the call is to end.
    func send(_ request: PlainRequest) throws(ServiceError) -> any PluginAnswer

    /// Sends a PROPFIND or REPORT and returns when the answer's head is there.
    /// - Parameter isAhead: Whether nobody waits for its answer yet: then it returns at once.
    /// - Throws: As the other `send`. Of a request that is sent ahead, the answer's first ``PluginDAVAnswer/next()``
    ///   throws it.
    func send(_ request: MultistatusRequest, ahead isAhead: Bool) throws(ServiceError) -> any PluginDAVAnswer

    /// The homes of a service: `caldav`, `files`.
    /// - Throws: `LARDER_UNSUPPORTED` if the server does not offer it, `LARDER_NOT_FOUND` if a place that might have
    ///   told cannot now, `LARDER_INVALID_ARGUMENT` for a service that is not known, and `LARDER_IO` and
    ///   `LARDER_CANCELLED` as `send`.
    func homes(of service: String) throws(ServiceError) -> DAVHomes

    /// A call returned well, and this is what it asked for, in order.
    func accept(_ asked: [LoopAsk])
}

/// What a loop asks for.
public enum LoopAsk: Hashable, Sendable {
    case record(RecordChange)
    /// A value of the plugin's own; nil: none.
    case value(key: [UInt8], value: [UInt8]?)
    /// The item list is to look at what has this path.
    case requestListing(ItemPath)
}

/// A stream of records.
public protocol RecordSource: AnyObject {
    /// The next one; nil past the last.
    /// - Throws: `LARDER_IO` if the records cannot be read.
    func next() throws(ServiceError) -> Record?
}

/// An answer whose body has yet to be read. It is closed when it goes.
public protocol PluginAnswer: AnyObject {
    var status: Int { get }
    /// The first value of a header, whose name is in any case.
    func header(_ name: String) -> String?
    /// The next bytes as they come; nil at the end.
    /// - Throws: `LARDER_IO` if the body ended too soon, `LARDER_CANCELLED` if the call is to end.
    func next() throws(ServiceError) -> [UInt8]?
}

/// An answer to a PROPFIND or REPORT. When it goes, it is closed: what is unread of it is not fetched.
public protocol PluginDAVAnswer: AnyObject {
    /// 0: the request was sent ahead, and its answer was not waited for yet.
    var status: Int { get }
    /// The next response; nil past the last.
    /// - Throws: `LARDER_IO` if the answer ended too soon or makes no sense, `LARDER_CANCELLED` if the call is to end,
    ///   and what `send` did not wait for.
    func next() throws(ServiceError) -> MultistatusResponse?
    /// What is known at the end; nil before.
    var end: MultistatusEnd? { get }
}
