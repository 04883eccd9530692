public import CLarder
public import Model

/// The implementation of a plugin's services during a run of calls. Used on the plugin's thread only.
public protocol PluginRun: PluginRecords {
    /// The policies of the processor's kind, as they were when the run began.
    var policies: [ItemPolicy] { get }

    /// The time when the run began.
    var began: Timestamp { get }

    /// Returns a stream of the items that meet a condition, as they were when the run began.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the condition does not parse; `LARDER_IO` if the items cannot be read.
    func items(_ query: PluginQuery) throws(ServiceError) -> any ItemSource

    /// Returns the figures about the local copies and about the room on the disk. The items are those at the run's
    /// begin.
    /// - Throws: `LARDER_IO` if the items, or the file system of the copies, cannot be read.
    func usage() throws(ServiceError) -> PluginUsage

    /// Tells whether there is an item with this id, removed or not.
    /// - Throws: `LARDER_IO` if the items cannot be read.
    func hasItem(_ localID: LocalID) throws(ServiceError) -> Bool

    /// Returns the path of an item; nil if it cannot be found out.
    func path(of item: LocalID) -> ItemPath?

    /// Checks that a text is a condition.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the text does not parse.
    func check(condition: String) throws(ServiceError)

    /// Returns the stored value for one of the plugin's own keys; nil if there is none.
    /// - Throws: `LARDER_IO` if the value cannot be read.
    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]?

    /// Returns the size in bytes of one of the plugin's stored values with its key, or of all of them; 0 if there is none.
    /// - Throws: `LARDER_IO` if the values cannot be read.
    func valueSize(of key: [UInt8]?) throws(ServiceError) -> Int64

    /// Tells whether the call under way, which has requested this many actions, may request another one.
    func hasRoom(besides actions: Int) -> Bool

    /// Tells whether the call under way, which has requested this many uploads, may request another one. Each upload
    /// holds a snapshot until the run has recorded it.
    func mayUpload(besides uploads: Int) -> Bool

    /// Takes the requests of a call that succeeded, in order.
    func accept(_ intents: [Intent], during call: StaticString)
}

/// A stream of items as a plugin sees them. Used on one thread. The memory that a view points to is valid until the
/// next `next`.
public protocol ItemSource: AnyObject {
    /// Goes to the next item and fills the view with the requested fields.
    /// - Returns: Whether there was an item; false after the last one.
    /// - Throws: The database's `Failure`. The items before the error are not all then.
    func next(_ view: inout larder_item) throws(Failure) -> Bool

    /// The path of the current item, borrowed until the next `next`.
    var pathBytes: UnsafeBufferPointer<UInt8> { get }
}

extension ItemSource {
    /// The path of the current item, for traces and logs.
    public var path: String { String(decoding: pathBytes, as: UTF8.self) }
}
