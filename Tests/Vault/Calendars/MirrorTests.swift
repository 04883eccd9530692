import Glibc
import Model
import Synchronization
import TestSupport
import Testing

@testable import Database
@testable import Vault

@Suite("Calendars as files")
struct MirrorTests {
    @Test("Objects are files with just their bytes, their owner's alone, and follow what changes")
    func follows() throws {
        try withMirror { fixture in
            let mirror = fixture.mirror()
            try mirror.complete()
            #expect(!Files.exists(fixture.calendars))
            let bytes = "BEGIN:VCALENDAR\r\nX:\u{0}\u{e9}e\u{301}%\r\nEND:VCALENDAR"
            try fixture.put(work, "Work")
            try fixture.put("/ada/work/1.ics", bytes)
            try fixture.put("/ada/work/caf%C3%A9.ics", "")
            try fixture.put("/ada/work/cafe%CC%81.ics", "b")
            try fixture.put("/ada/work/CAFE.ics", "c")
            try fixture.put("/ada/work/later.ics", nil)
            try mirror.follow()
            #expect(
                try fixture.files() == [
                    "Work/1.ics": bytes, "Work/CAFE.ics": "c", "Work/cafe\u{301}.ics": "b", "Work/caf\u{e9}.ics": "",
                ])
            #expect(mode(of: fixture.calendars) == 0o700 && mode(of: fixture.calendars + "/Work") == 0o700)
            #expect(mode(of: fixture.calendars + "/Work/1.ics") == 0o600)
            let untouched = inode(of: fixture.calendars + "/Work/1.ics")
            try fixture.remove("/ada/work/CAFE.ics")
            try fixture.put("/ada/work/caf%C3%A9.ics", "new")
            try fixture.put("/ada/work/cafe%CC%81.ics", nil)
            try fixture.put("/ada/work/later.ics", "l")
            try mirror.follow()
            #expect(try fixture.files() == ["Work/1.ics": bytes, "Work/caf\u{e9}.ics": "new", "Work/later.ics": "l"])
            #expect(inode(of: fixture.calendars + "/Work/1.ics") == untouched)
            try fixture.remove(work)
            try mirror.follow()
            #expect(try fixture.files() == [:])
            #expect(try fixture.pending() == 0)
        }
    }

    @Test("V1: while the vault is away, no calendars are made in its place")
    func away() throws {
        try withMirror { fixture in
            try fixture.mirror().complete()
            try fixture.put(work, "Work")
            try fixture.put("/ada/work/1.ics", "w")
            let (path, elsewhere) = ("\(fixture.folder)/larder.db", "\(fixture.folder)/elsewhere")
            #expect(rename(path, elsewhere) == 0)
            #expect(throws: Failure.self) { try fixture.mirror().follow() }
            #expect(!Files.exists(fixture.calendars))
            #expect(rename(elsewhere, path) == 0)
            try fixture.mirror().follow()
            #expect(try fixture.files() == ["Work/1.ics": "w"])
        }
    }

    @Test("Calendars with one name have two folders, which stay whose they are; a renamed one moves with its files")
    func folders() throws {
        try withMirror { fixture in
            let other = RecordKey("/ada/other/")
            for calendar in [work, other] { try fixture.put(calendar, "Same") }
            try fixture.put("/ada/work/1.ics", "w")
            try fixture.put("/ada/other/1.ics", in: other, "o")
            try fixture.mirror().follow()
            let both: [MirrorName: String] = ["Same/1.ics": "o", "Same (2)/1.ics": "w"]
            #expect(try fixture.files() == both)
            let before = inode(of: fixture.calendars + "/Same (2)/1.ics")
            for _ in 0..<2 { try fixture.mirror().complete() }
            #expect(try fixture.files() == both)
            // The name that has become free is not used. A folder moves only when its calendar is renamed.
            try fixture.remove(other)
            try fixture.mirror().follow()
            try fixture.mirror().complete()
            #expect(try fixture.files() == ["Same (2)/1.ics": "w"])
            try fixture.put(work, "../New")
            try fixture.mirror().follow()
            #expect(try fixture.files() == ["_._New/1.ics": "w"])
            try fixture.put(work, nil)
            try fixture.mirror().follow()
            #expect(try fixture.files() == ["work/1.ics": "w"])
            #expect(inode(of: fixture.calendars + "/work/1.ics") == before)
        }
    }

    @Test("Objects whose paths end alike have files of their own, the same at each start")
    func alike() throws {
        try withMirror { fixture in
            try fixture.put(work, "Work")
            for key in ["/a/x.ics", "/b/x.ics", "/c/x", "/d/x.ics/"] { try fixture.put(key, key) }
            try fixture.mirror().follow()
            let all: [MirrorName: String] = [
                "Work/x.ics": "/a/x.ics", "Work/x (2).ics": "/b/x.ics", "Work/x (3).ics": "/c/x",
                "Work/x (4).ics": "/d/x.ics/",
            ]
            #expect(try fixture.files() == all)
            try fixture.mirror().complete()
            #expect(try fixture.files() == all)
        }
    }

    @Test(
        "A start keeps what programs changed beside, brings back what they removed, and leaves alone what they put there"
    )
    func start() throws {
        try withMirror { fixture in
            let folder = fixture.calendars + "/Work"
            try fixture.put(work, "Work")
            for name in ["edited", "removed", "shared", "linked", "replaced", "fine"] {
                try fixture.put("/w/\(name).ics", name)
            }
            try fixture.mirror().follow()
            let fine = inode(of: folder + "/fine.ics")
            try Files.write("EDITED", to: folder + "/edited.ics")
            Files.remove(folder + "/removed.ics")
            chmod(folder + "/shared.ics", 0o644)
            chmod(folder, 0o755)
            try Files.write("secret", to: fixture.folder + "/elsewhere")
            Files.remove(folder + "/linked.ics")
            symlink(fixture.folder + "/elsewhere", folder + "/linked.ics")
            Files.remove(folder + "/replaced.ics")
            try Files.write("a note", to: folder + "/replaced.ics/note")
            try Files.write("mine", to: folder + "/mine.ics")
            try Files.write("mine", to: fixture.calendars + "/Mine/mine.txt")
            try fixture.mirror().follow()
            #expect(try Files.text(folder + "/edited.ics") == "EDITED")
            try fixture.mirror().complete()
            #expect(
                try fixture.files() == [
                    "Work/edited.ics": "edited", "Work/edited (changed here).ics": "EDITED",
                    "Work/removed.ics": "removed", "Work/shared.ics": "shared", "Work/linked.ics": "linked",
                    "Work/linked (changed here).ics": "-> \(fixture.folder)/elsewhere", "Work/replaced.ics": "folder",
                    "Work/replaced (2).ics": "replaced",
                    "Work/fine.ics": "fine", "Work/mine.ics": "mine", "Mine/mine.txt": "mine",
                ])
            #expect(try Files.text(fixture.folder + "/elsewhere") == "secret")
            #expect(inode(of: folder + "/fine.ics") == fine)
            #expect(mode(of: folder + "/shared.ics") == 0o600 && mode(of: folder) == 0o700)
            // When the calendar is removed, the files of other programs stay, and so does a file of Larder's that was
            // changed.
            try Files.write("edited again", to: folder + "/edited.ics")
            try fixture.remove(work)
            try fixture.mirror().complete()
            #expect(
                try fixture.files() == [
                    "Work/edited (changed here).ics": "EDITED", "Work/edited (changed here 2).ics": "edited again",
                    "Work/linked (changed here).ics": "-> \(fixture.folder)/elsewhere",
                    "Work/replaced.ics": "folder", "Work/mine.ics": "mine", "Mine/mine.txt": "mine",
                ])
            #expect(try Files.text(folder + "/replaced.ics/note") == "a note")
        }
    }

    @Test("What has the name of a file or folder already stays, and no link is followed")
    func inTheWay() throws {
        try withMirror { fixture in
            let outside = fixture.folder + "/outside"
            try Files.makeFolder(outside)
            try Files.makeFolder(fixture.calendars)
            symlink(outside, fixture.calendars + "/Linked")
            try Files.write("a file", to: fixture.calendars + "/File")
            try Files.write("theirs", to: fixture.calendars + "/Work/1.ics")
            symlink(outside + "/2.ics", fixture.calendars + "/Work/2.ics")
            for (key, name) in [("/l/", "Linked"), ("/f/", "File"), ("/w/", "Work")] {
                try fixture.put(RecordKey(key), name)
                for number in 1...2 { try fixture.put("\(key)\(number).ics", in: RecordKey(key), "ours") }
            }
            let expected: [MirrorName: String] = [
                "Linked": "-> \(outside)", "Linked (2)/1.ics": "ours", "Linked (2)/2.ics": "ours", "File": "a file",
                "File (2)/1.ics": "ours", "File (2)/2.ics": "ours", "Work/1.ics": "theirs", "Work/1 (2).ics": "ours",
                "Work/2.ics": "-> \(outside)/2.ics", "Work/2 (2).ics": "ours",
            ]
            try fixture.mirror().follow()
            #expect(try fixture.files() == expected)
            // A link replaces a folder of Larder's here.
            rename(fixture.calendars + "/Work", fixture.folder + "/away")
            symlink(outside, fixture.calendars + "/Work")
            try fixture.mirror().complete()
            #expect(try Files.names(in: outside).isEmpty)
            #expect(try fixture.files()["Work (2)/1.ics"] == "ours")
            for key in ["/l/", "/f/", "/w/"] { try fixture.remove(RecordKey(key)) }
            try fixture.mirror().complete()
            #expect(try fixture.files() == ["Linked": "-> \(outside)", "File": "a file", "Work": "-> \(outside)"])
            #expect(try Files.names(in: fixture.folder + "/away").count == 4)
        }
    }

    @Test(
        "A link or file in place of `calendars` is an error that says so, and the database keeps what is to be written")
    func rootInTheWay() throws {
        try withMirror { fixture in
            let outside = fixture.folder + "/outside"
            try Files.makeFolder(outside)
            try fixture.put(work, "Work")
            try fixture.put("/w/1.ics", "1")
            for isLink in [true, false] {
                if isLink { symlink(outside, fixture.calendars) } else { try Files.write("x", to: fixture.calendars) }
                for pass in [{ try fixture.mirror().follow() }, { try fixture.mirror().complete() }]
                    as [() throws -> Void]
                {
                    let failure = #expect(throws: Failure.self) { try pass() }
                    #expect(failure?.kind == .localIO && failure?.message.contains(fixture.calendars) == true)
                }
                #expect(try fixture.pending() == 2)
                Files.remove(fixture.calendars)
            }
            #expect(try Files.names(in: outside).isEmpty)
            try fixture.mirror().follow()
            #expect(try fixture.files() == ["Work/1.ics": "1"])
        }
    }

    @Test("A full disk is an error that says so; what is in the database stays and is written later")
    func fullDisk() throws {
        try withMirror { fixture in
            try fixture.put(work, "Work")
            for number in 1...3 { try fixture.put("/w/\(number).ics", "\(number)") }
            let room = Mutex(1)
            let mirror = fixture.mirror { point in
                let left =
                    point == .writing
                    ? room.withLock { room in
                        room -= 1
                        return room
                    } : 0
                if left < 0 { throw Failure.system("writing", ENOSPC) }
            }
            for pass in [{ try mirror.follow() }, { try mirror.complete() }] as [() throws -> Void] {
                let failure = #expect(throws: Failure.self) { try pass() }
                #expect(failure?.kind == .localIO && failure?.message.contains("full") == true)
                #expect(try fixture.files() == ["Work/": ""])
                #expect(try fixture.database.readBlocking { try $0.records.count(in: workObjects) } == 3)
            }
            room.withLock { $0 = 100 }
            try mirror.follow()
            #expect(try fixture.files() == ["Work/1.ics": "1", "Work/2.ics": "2", "Work/3.ics": "3"])
            #expect(try fixture.pending() == 0)
        }
    }

    @Test("What changes while files are written is not lost")
    func meanwhile() throws {
        try withMirror { fixture in
            try fixture.put(work, "Work")
            try fixture.put("/w/1.ics", "first")
            let isFirst = Mutex(true)
            let mirror = fixture.mirror { point in
                guard point == .placed,
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return }
                try fixture.put("/w/1.ics", "second")
                try fixture.put("/w/2.ics", "two")
            }
            try mirror.follow()
            #expect(try fixture.files() == ["Work/1.ics": "second", "Work/2.ics": "two"])
            #expect(try fixture.pending() == 0)
        }
    }

    @Test("What others put in place of a file that is just being written stays")
    func overtaken() throws {
        try withMirror { fixture in
            try fixture.put(work, "Work")
            try fixture.put("/w/1.ics", "ours")
            let file = fixture.calendars + "/Work/1.ics"
            try fixture.mirror { if $0 == .written { try Files.write("theirs", to: file) } }.follow()
            let both: [MirrorName: String] = ["Work/1.ics": "theirs", "Work/1 (2).ics": "ours"]
            #expect(try fixture.files() == both)
            try fixture.mirror().complete()
            #expect(try fixture.files() == both)
        }
    }

    @Test("After the database was begun anew the files that are the same are taken over")
    func begunAnew() throws {
        try withTemporaryFolder { folder in
            var inodes: [UInt64?] = []
            for _ in 0..<2 {
                let fixture = try MirrorFixture(folder)
                try fixture.put(work, "Work")
                for number in 1...3 { try fixture.put("/w/\(number).ics", "\(number)") }
                try fixture.mirror().follow()
                #expect(try fixture.files() == ["Work/1.ics": "1", "Work/2.ics": "2", "Work/3.ics": "3"])
                inodes.append(inode(of: fixture.calendars + "/Work/1.ics"))
                try fixture.database.close()
                for suffix in ["", "-wal", "-shm"] { Files.remove(folder + "/larder.db" + suffix) }
            }
            #expect(inodes[0] == inodes[1])
        }
    }

    @Test("Of 10,000 objects only those are written that changed, and a start writes none that is as it was")
    func cost() throws {
        try withMirror { fixture in
            try fixture.put(work, "Work")
            try fixture.database.writeBlocking { tx in
                for number in 0..<10_000 {
                    try tx.records.put(
                        Record(key: RecordKey("/w/\(number).ics"), content: Array("\(number)".utf8)), in: workObjects)
                }
            }
            let points = Mutex<[CalendarMirrorHooks.Point: Int]>([:])
            let mirror = fixture.mirror { point in points.withLock { $0[point, default: 0] += 1 } }
            func count() -> [CalendarMirrorHooks.Point: Int] {
                points.withLock { points in
                    defer { points = [:] }
                    return points
                }
            }
            try mirror.complete()
            #expect(count()[.placed] == 10_000)
            try mirror.complete()
            #expect(count() == [:])
            try fixture.put("/w/77.ics", "other")
            try fixture.remove("/w/78.ics")
            try mirror.follow()
            #expect(count() == [.writing: 1, .written: 1, .recorded: 1, .aside: 2, .placed: 1, .removed: 1])
            #expect(try Files.names(in: fixture.calendars + "/Work").count == 9_999)
        }
    }
}
