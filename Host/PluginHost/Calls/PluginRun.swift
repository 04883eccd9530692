public import CLarder
public import Model

/// What stands behind a plugin's services during a run of calls. Used on the plugin's thread alone.
public protocol PluginRun: AnyObject {
    /// The policies of the processor's kind, as they were when the run began.
    var policies: [ItemPolicy] { get }

    /// When the run began.
    var began: Timestamp { get }

    /// A stream of the items that meet a condition, as they were when the run began.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the condition does not parse, `LARDER_IO` if the items cannot be read.
    func items(_ query: PluginQuery) throws(ServiceError) -> any ItemSource

    /// How much room there is; of what is here, as it was when the run began.
    /// - Throws: `LARDER_IO` if the items, or the file system of the copies, cannot be read.
    func usage() throws(ServiceError) -> PluginUsage

    /// Tells whether there is an item with this id, removed or not.
    /// - Throws: `LARDER_IO` if the items cannot be read.
    func hasItem(_ localID: LocalID) throws(ServiceError) -> Bool

    /// Where an item is; nil if that cannot be found out.
    func path(of item: LocalID) -> ItemPath?

    /// Checks that a text is a condition.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if it does not parse.
    func check(condition: String) throws(ServiceError)

    /// The stored value of a key of the plugin's own; nil if there is none.
    /// - Throws: `LARDER_IO` if the value cannot be read.
    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]?

    /// Whether the call under way, which has asked for this many actions, may ask for another.
    func hasRoom(besides actions: Int) -> Bool

    /// A call returned well, and this is what it asked for, in order.
    func accept(_ intents: [Intent], during call: StaticString)
}

/// A stream of items as a plugin sees them. Used on one thread; what a view points to is valid until the next `next`.
public protocol ItemSource: AnyObject {
    /// Goes to the next item and fills the view with the fields that were asked for.
    /// - Returns: false after the last.
    /// - Throws: The database's `Failure`; what came is not all then.
    func next(_ view: inout larder_item) throws(Failure) -> Bool

    /// The path of the item under way, borrowed until the next `next`.
    var pathBytes: UnsafeBufferPointer<UInt8> { get }
}

extension ItemSource {
    /// The path of the item under way, for traces and logs.
    public var path: String { String(decoding: pathBytes, as: UTF8.self) }
}
