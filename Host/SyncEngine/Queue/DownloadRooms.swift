import Synchronization

/// The room for downloads on each file system. The accounts of a process share it, since a disk has its room once. All
/// functions may be called from any thread.
public final class DownloadRooms: Sendable {
    private let rooms = Mutex<[UInt64: SharedRoom]>([:])

    /// Creates rooms that were not measured yet.
    public init() {}

    /// Returns the room on the file system with a device number.
    func room(on device: UInt64, keepFree: Int64?) -> SharedRoom {
        rooms.withLock { rooms in
            if let room = rooms[device] { return room }
            let room = SharedRoom(DownloadRoom(keepFree: keepFree))
            rooms[device] = room
            return room
        }
    }
}

/// The room on one file system, for every engine that downloads there.
final class SharedRoom: Sendable {
    private let room: Mutex<DownloadRoom>

    init(_ room: DownloadRoom) { self.room = Mutex(room) }

    func withLock<Result: Sendable>(_ body: (inout DownloadRoom) -> Result) -> Result {
        room.withLock { body(&$0) }
    }
}
