public import Model

/// The stored records that a plugin may read during a call: in a loop's turn those that are committed, in a
/// processor's run those of the state that the run sees. Used on the plugin's thread only.
public protocol PluginRecords: AnyObject {
    /// Returns a stored record; nil if there is none.
    /// - Throws: `LARDER_IO` if the record cannot be read.
    func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields
    ) throws(ServiceError) -> Record?

    /// Returns the stored records of a collection, in the order of their keys.
    /// - Throws: `LARDER_IO` if the records cannot be read, and this is found before the first record. Later errors are
    ///   thrown by the source.
    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) throws(ServiceError) -> any RecordSource
}

/// A stream of records.
public protocol RecordSource: AnyObject {
    /// Returns the next record; nil after the last one.
    /// - Throws: `LARDER_IO` if the records cannot be read.
    func next() throws(ServiceError) -> Record?
}
