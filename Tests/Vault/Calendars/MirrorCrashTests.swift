import Glibc
import Model
import Synchronization
import TestSupport
import Testing

@testable import Database
@testable import Vault

@Suite("A host that ends while calendars are written")
struct MirrorCrashTests {
    /// Copies a vault as it is on the disk. The database is copied, and the files get hard links, so that they keep
    /// their marks.
    private static func copy(_ folder: String, to target: String) throws {
        try Files.makeFolder(target)
        for name in ["larder.db", "larder.db-wal"] {
            try Files.write(try Files.read("\(folder)/\(name)"), to: "\(target)/\(name)")
        }
        let root = folder + "/calendars"
        guard Files.exists(root) else { return }
        for path in try Files.names(in: root) {
            try Files.makeFolder("\(target)/calendars/\(path)")
            for name in try Files.names(in: "\(root)/\(path)") {
                #expect(link("\(root)/\(path)/\(name)", "\(target)/calendars/\(path)/\(name)") == 0)
            }
        }
    }

    @Test("L13: wherever a host ends, the next start completes the files, and what others put there stays")
    func anywhere() throws {
        try withTemporaryFolder { base in
            try Files.makeFolder(base + "/vault")
            let fixture = try MirrorFixture(base + "/vault")
            let copies = Mutex<[String]>([])
            let mirror = fixture.mirror { _ in
                try copies.withLock { copies in
                    let target = "\(base)/\(copies.count)"
                    try Self.copy(fixture.folder, to: target)
                    copies.append(target)
                }
            }
            let other = RecordKey("/ada/other/")
            try Files.write("theirs", to: fixture.calendars + "/Work/1.ics")
            for (calendar, name) in [(work, "Work"), (other, "Same")] {
                try fixture.put(calendar, name)
                for number in 1...3 { try fixture.put("\(calendar)\(number).ics", in: calendar, "\(name) \(number)") }
            }
            // Each step ends with the files that must exist after the step. A copy is completed to the next such state.
            var states: [(copies: Int, files: [MirrorName: String])] = []
            func step() throws {
                copies.withLock { $0.append("") }
                let target = "\(base)/\(copies.withLock { $0.count } - 1)"
                try Self.copy(fixture.folder, to: target)
                copies.withLock { $0[$0.count - 1] = target }
                try mirror.follow()
                states.append((copies.withLock { $0.count }, try fixture.files()))
            }
            try step()
            try fixture.put("/ada/work/1.ics", "changed")
            try fixture.put("/ada/work/4.ics", "new")
            try fixture.remove("/ada/work/2.ics")
            try step()
            try fixture.put(work, "Renamed")
            try fixture.put("/ada/work/5.ics", "five")
            try step()
            try fixture.remove(other)
            try step()
            #expect(states.count == 4 && states[3].copies > 25)
            #expect(
                states[3].files == [
                    "Renamed/1.ics": "theirs", "Renamed/1 (2).ics": "changed", "Renamed/3.ics": "Work 3",
                    "Renamed/4.ics": "new", "Renamed/5.ics": "five",
                ])
            for (number, copy) in copies.withLock({ $0 }).enumerated() {
                let state = try #require(states.first { number < $0.copies })
                let found = try MirrorFixture(copy)
                try found.mirror().complete()
                #expect(try found.files() == state.files, "\(number)")
                #expect(try found.pending() == 0)
                try found.mirror().complete()
                #expect(try found.files() == state.files, "\(number)")
                try found.database.close()
            }
        }
    }

    @Test("Wherever a host ends, what was changed here is kept, once, and told")
    func changedHere() throws {
        try withTemporaryFolder { base in
            try Files.makeFolder(base + "/vault")
            let fixture = try MirrorFixture(base + "/vault")
            try fixture.put(work, "Work")
            for number in 1...3 { try fixture.put("/w/\(number).ics", "ours \(number)") }
            try fixture.mirror().follow()
            for number in 1...2 { try Files.write("mine \(number)", to: fixture.calendars + "/Work/\(number).ics") }
            try fixture.put("/w/1.ics", "new")
            try fixture.remove("/w/2.ics")
            try fixture.put("/w/3.ics", "new")
            let copies = Mutex<[(point: CalendarMirrorHooks.Point, folder: String)]>([])
            try fixture.mirror { point in
                try copies.withLock { copies in
                    let target = "\(base)/\(copies.count)"
                    try Self.copy(fixture.folder, to: target)
                    copies.append((point, target))
                }
            }.follow()
            let expected: [MirrorName: String] = [
                "Work/1.ics": "new", "Work/1 (changed here).ics": "mine 1", "Work/2 (changed here).ics": "mine 2",
                "Work/3.ics": "new",
            ]
            #expect(try fixture.files() == expected)
            let points = copies.withLock { $0 }
            #expect(Set(points.map(\.point)).isSuperset(of: [.recorded, .aside, .placed, .kept, .removed]))
            for (point, copy) in points {
                let found = try MirrorFixture(copy)
                for _ in 0..<2 { try found.mirror().complete() }
                #expect(try found.files() == expected, "\(point)")
                #expect(
                    try Set(found.kept()) == ["Work/1 (changed here).ics", "Work/2 (changed here).ics"], "\(point)")
                try found.database.close()
            }
        }
    }

    @Test("A file that a host did not come to put in place is not put in place of what others made there since")
    func overtaken() throws {
        try withTemporaryFolder { base in
            try Files.makeFolder(base + "/vault")
            let fixture = try MirrorFixture(base + "/vault")
            try fixture.put(work, "Work")
            for number in 1...2 { try fixture.put("/w/\(number).ics", "ours") }
            try fixture.mirror { if $0 == .recorded { try Self.copy(fixture.folder, to: base + "/copy") } }.follow()
            try Files.write("theirs", to: base + "/copy/calendars/Work/2.ics")
            let found = try MirrorFixture(base + "/copy")
            try found.mirror().complete()
            #expect(
                try found.files() == ["Work/1.ics": "ours", "Work/2.ics": "theirs", "Work/2 (2).ics": "ours"])
        }
    }
}
