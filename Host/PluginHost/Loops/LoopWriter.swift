package import Model

/// The rule that every collection of records has one writer:
/// - The core loop writes calendars, shares and the account.
/// - The loop of the kind `calendar` for a calendar writes that calendar's record and its objects; the loop of the
///   kind `share` for a share does the same for that share.
/// - A plugin's loop writes the collection with the plugin's name. If each record of a collection means a loop of
///   the kind, the plugin's collection lies below the loop's own record.
package struct LoopWriter: Sendable {
    private let loop: LoopKey
    private let plugin: PluginID
    private let collection: RecordCollection?

    /// Creates the rule for a loop.
    /// - Parameters:
    ///   - loop: The loop.
    ///   - plugin: The loop's plugin.
    ///   - collection: The collection whose records each mean a loop of this kind; nil if the kind has only one loop.
    package init(_ loop: LoopKey, of plugin: PluginID, for collection: RecordCollection?) {
        (self.loop, self.plugin, self.collection) = (loop, plugin, collection)
    }

    /// Tells whether the loop may write a record.
    package func mayWrite(_ key: RecordKey, in written: RecordCollection) -> Bool {
        let mine = RecordCollection(plugin.text)
        if written == mine { return collection == nil }
        if loop == .core { return [.calendars, .shares, .account].contains(written) }
        guard let collection else { return false }
        let own = RecordKey(loop.id.text)
        if written == mine.of(own) { return true }
        let isKeeper = loop.kind.text == (collection == .calendars ? "calendar" : collection == .shares ? "share" : nil)
        return isKeeper && (written == collection.of(own) || written == collection && key == own)
    }
}
