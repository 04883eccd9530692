import Glibc

/// An event of a folder that the kernel watches (`inotify(7)`).
struct WatchEvent: Hashable {
    /// The number of the watch; below 0 for an event of the whole queue.
    var watch: Int32
    var mask: UInt32
    /// The name of the folder's entry that changed. Nil for the folder itself, and for a name that is not UTF-8 and so
    /// belongs to no item.
    var name: String?
    /// Whether the event concerns an entry of the folder.
    var isAboutEntry: Bool

    /// The events that the kernel reports: changes of a folder's entries, and of a file's content, permissions and
    /// times.
    ///
    /// Opens, reads, and closes without writing are not included. A comparison of the tree with the rows causes such
    /// events itself, and must not cause the next comparison.
    static let asked = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_ONLYDIR
            | IN_EXCL_UNLINK)
    /// The events of the watches for uses. Closing counts, because a program may have had the file open for long.
    static let askedOfUses = UInt32(IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE | IN_ONLYDIR | IN_EXCL_UNLINK)
    /// The further events of the tree's root.
    static let askedOfRoot = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

    /// The loss of events of a queue.
    static let overflow = WatchEvent(watch: -1, mask: UInt32(IN_Q_OVERFLOW), name: nil, isAboutEntry: false)

    func has(_ bits: Int32...) -> Bool { bits.contains { mask & UInt32($0) != 0 } }

    /// Returns the events that one `read` gave.
    static func all(in bytes: UnsafeRawBufferPointer) -> [WatchEvent] {
        var events: [WatchEvent] = []
        var rest = bytes[...]
        let head = MemoryLayout<inotify_event>.size
        while rest.count >= head {
            let event = UnsafeRawBufferPointer(rebasing: rest).loadUnaligned(as: inotify_event.self)
            let padded = rest.dropFirst(head).prefix(Int(event.len))
            events.append(
                WatchEvent(
                    watch: event.wd, mask: event.mask,
                    name: padded.isEmpty ? nil : String(validating: padded.prefix { $0 != 0 }, as: UTF8.self),
                    isAboutEntry: !padded.isEmpty))
            rest = rest.dropFirst(head + Int(event.len))
        }
        return events
    }
}
