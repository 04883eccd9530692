import Glibc

/// What the kernel tells of a folder that it watches (`inotify(7)`).
struct WatchEvent: Hashable {
    /// The number of the watch; below 0 for what concerns all.
    var watch: Int32
    var mask: UInt32
    /// The entry of the folder that it is about; nil for the folder itself, and for a name that is not UTF-8 and so no item's.
    var name: String?
    /// Whether it is about an entry at all.
    var isAboutEntry: Bool

    /// What the kernel is asked to tell: what changes a folder's entries or a file's content and looks.
    ///
    /// Not that something was opened, read or closed unwritten: comparing the tree with the rows does that, and must not set off
    /// the next comparison.
    static let asked = UInt32(
        IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_MODIFY | IN_ATTRIB | IN_ONLYDIR
            | IN_EXCL_UNLINK)
    /// What is asked by the watches that tell of uses. Closing counts, because a program may have had the file open for long.
    static let askedOfUses = UInt32(IN_OPEN | IN_ACCESS | IN_CLOSE_NOWRITE | IN_ONLYDIR | IN_EXCL_UNLINK)
    /// What is asked of the tree's root beside that.
    static let askedOfRoot = UInt32(IN_DELETE_SELF | IN_MOVE_SELF)

    func has(_ bits: Int32...) -> Bool { bits.contains { mask & UInt32($0) != 0 } }

    /// The events that one `read` gave.
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
