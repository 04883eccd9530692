import Model
import TestSupport
import Testing

@testable import SyncEngine

extension DownloadRoom.Owner: ExpressibleByIntegerLiteral {
    public init(integerLiteral record: Int64) { self.init(account: "home", record: SyncRecordID(record)) }
}

struct DownloadRoomTests {
    private static func room(free: Int64, keepFree: Int64? = 100, total: Int64 = 1_000_000) -> DownloadRoom {
        var room = DownloadRoom(keepFree: keepFree)
        room.measured(FileSystemSpace(free: free, total: total), at: .zero)
        return room
    }

    @Test("C13: a download begins if it leaves what is to stay free, and not if it leaves a byte less")
    func fits() {
        let room = Self.room(free: 1_000)
        #expect(room.fits(900) && !room.fits(901))
        let full = Self.room(free: 50)
        #expect(full.left == -50 && !full.fits(1) && full.fits(0))
    }

    @Test("C13: downloads under way count with what they still miss")
    func underWay() {
        var room = Self.room(free: 1_000)
        room.begin(1, missing: 600)
        #expect(room.fits(300) && !room.fits(301))
        // 400 bytes are on the disk now, and no longer free.
        room.received(400, by: 1)
        #expect(room.left == 300)
        room.measured(FileSystemSpace(free: 600, total: 1_000_000), at: .zero)
        #expect(room.left == 300)
        // The download begins anew: the server did not go on with it.
        room.received(-400, by: 1)
        room.measured(FileSystemSpace(free: 1_000, total: 1_000_000), at: .zero)
        #expect(room.left == 300)
        room.received(700, by: 1)
        room.end(1)
        #expect(room.left == 300 && !room.holds(1))
        room.begin(2, missing: 200)
        room.end(2)
        #expect(room.left == 300)
    }

    @Test("C13: by default 500 MB stay free, or 5 % of a smaller file system")
    func defaultKept() {
        #expect(Self.room(free: 0, keepFree: nil, total: 1 << 40).kept == 500_000_000)
        #expect(Self.room(free: 0, keepFree: nil, total: 1_000_000_000).kept == 50_000_000)
        #expect(Self.room(free: 0, keepFree: 0).kept == 0)
    }

    @Test("C13: a file system that does not tell what is free sets no limit, and sizes beyond all bounds do no harm")
    func unknown() {
        var room = Self.room(free: 0)
        room.measured(nil, at: .zero)
        #expect(room.left == nil && room.fits(.max))
        room.begin(1, missing: .max)
        room.begin(2, missing: .max)
        room.measured(FileSystemSpace(free: .max, total: .max), at: .zero)
        #expect(!room.fits(1) || room.left.map { $0 < 1_000 } == true)
        room.begin(3, missing: .max)
        room.end(1)
        room.end(2)
        room.end(3)
    }

    @Test("C13: a measurement serves many small files, but not for long")
    func outdated() {
        let room = Self.room(free: 1_000)
        #expect(DownloadRoom(keepFree: nil).isOutdated(at: .zero))
        #expect(!room.isOutdated(at: .milliseconds(99)) && room.isOutdated(at: .milliseconds(100)))
    }
}
