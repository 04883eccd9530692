public import Model

/// The implementation of a plugin's services during a turn of an event loop. Used on the plugin's thread only, where
/// all of its methods may block.
public protocol LoopTurn: PluginRecords {
    /// Whether the call under way should end. Read on the plugin's thread, set on any thread.
    var isCancelled: Bool { get }

    /// The time at which the call under way is given up, on the clock's ``HostClock/monotonic``; nil for never.
    var deadline: Duration? { get }

    /// Tells whether the loop may change a record.
    func mayWrite(_ key: RecordKey, in collection: RecordCollection) -> Bool

    /// Returns the stored value for one of the plugin's own keys; nil if there is none.
    /// - Throws: `LARDER_IO` if the value cannot be read.
    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]?

    /// Returns the size in bytes of one of the plugin's stored values with its key, or of all of them; 0 if there is none.
    /// - Throws: `LARDER_IO` if the values cannot be read.
    func valueSize(of key: [UInt8]?) throws(ServiceError) -> Int64

    /// Returns the size in bytes of one of the stored records, of all records of a collection, or of all records that
    /// the plugin's loops keep; 0 if there is none.
    /// - Throws: `LARDER_IO` if the records cannot be read.
    func recordSize(of key: RecordKey?, in collection: RecordCollection?) throws(ServiceError) -> Int64

    /// The requests of the turn's earlier calls, in order.
    var asked: [LoopAsk] { get }

    /// Sends a request and returns when the answer's head has arrived.
    /// - Throws: `LARDER_IO` without an answer, and for an answer that the host deals with itself; `LARDER_DENIED` for
    ///   a request that is not sent; `LARDER_CANCELLED` if the call should end.
    func send(_ request: PlainRequest) throws(ServiceError) -> any PluginAnswer

    /// Sends a PROPFIND or REPORT and returns when the answer's head has arrived.
    /// - Parameters:
    ///   - request: The request to send.
    ///   - isAhead: Whether the caller does not wait for the answer yet. Then the method returns at once.
    /// - Throws: The errors of the other `send`. If the request is sent ahead, the first ``PluginDAVAnswer/next()``
    ///   throws them.
    func send(_ request: MultistatusRequest, ahead isAhead: Bool) throws(ServiceError) -> any PluginDAVAnswer

    /// Returns the homes of a service: `caldav`, `carddav`, `files`.
    /// - Throws: `LARDER_UNSUPPORTED` if the server does not offer the service; `LARDER_NOT_FOUND` if an address that
    ///   might have told the homes cannot be asked now; `LARDER_INVALID_ARGUMENT` for an unknown service; and
    ///   `LARDER_IO` and `LARDER_CANCELLED` as in `send`.
    func homes(of service: String) throws(ServiceError) -> DAVHomes

    /// Takes the requests of a call that succeeded, in order.
    func accept(_ asked: [LoopAsk])
}

/// A request of a loop.
public enum LoopAsk: Hashable, Sendable {
    /// A change of a record.
    case record(RecordChange)
    /// A change of a value for one of the plugin's own keys; nil removes the value.
    case value(key: [UInt8], value: [UInt8]?)
    /// A request for the item list to check the item at this path.
    case requestListing(ItemPath)
}

extension [LoopAsk] {
    /// Returns a record as the requests leave it; nil if they do not change it. The inner value is nil if the record is
    /// removed, by itself or with the record that it belongs to.
    package func record(_ key: RecordKey, in collection: RecordCollection) -> Record?? {
        for case .record(let change) in reversed() {
            switch change {
            case .put(let record, let written) where written == collection && record.key == key: return record
            case .remove(let removed, let written)
            where written == collection && removed == key || written.isRoot && written.of(removed) == collection:
                return .some(nil)
            default: continue
            }
        }
        return nil
    }

    /// Returns a value as the requests leave it; nil if they do not change it. The inner value is nil if the value is
    /// removed.
    package func value(for key: [UInt8]) -> [UInt8]?? {
        for case .value(let written, let value) in reversed() where written == key { return .some(value) }
        return nil
    }
}

/// An answer whose body has yet to be read. Freeing the answer closes it.
public protocol PluginAnswer: AnyObject {
    /// The answer's status.
    var status: Int { get }
    /// Returns the first value of a header. The name may be in any case.
    func header(_ name: String) -> String?
    /// Returns the next bytes as they arrive; nil at the end.
    /// - Throws: `LARDER_IO` if the body ended too soon; `LARDER_CANCELLED` if the call should end.
    func next() throws(ServiceError) -> [UInt8]?
}

/// An answer to a PROPFIND or REPORT. Freeing the answer closes it, and its unread rest is not fetched.
public protocol PluginDAVAnswer: AnyObject {
    /// The answer's status; 0 while the answer to a request that was sent ahead has not been waited for.
    var status: Int { get }
    /// Returns the next response; nil after the last one.
    /// - Throws: `LARDER_IO` if the answer ended too soon or cannot be read; `LARDER_CANCELLED` if the call should end;
    ///   and the errors for which `send` did not wait.
    func next() throws(ServiceError) -> MultistatusResponse?
    /// The facts about the whole answer; nil before its end.
    var end: MultistatusEnd? { get }
}
