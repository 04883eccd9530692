import Glibc
import Model
import TestSupport
import Testing

@testable import Database
@testable import Vault

@Suite("Calendars' files that were changed here")
struct ChangedCalendarFileTests {
    private func fill(_ fixture: MirrorFixture, _ names: String...) throws {
        try fixture.put(work, "Work")
        for name in names { try fixture.put("/w/\(name).ics", "\(name) on the server") }
        try fixture.mirror().follow()
    }

    @Test("What changes or goes on the server leaves what was made of it here, told once")
    func kept() throws {
        try withMirror { fixture in
            let folder = fixture.calendars + "/Work"
            try fill(fixture, "changed", "gone", "touched", "same")
            for name in ["changed", "gone"] { try Files.write("mine", to: "\(folder)/\(name).ics") }
            utimensat(AT_FDCWD, folder + "/touched.ics", nil, 0)
            for name in ["changed", "touched", "same"] { try fixture.put("/w/\(name).ics", "new") }
            try fixture.remove("/w/gone.ics")
            let told = try fixture.mirror().follow()
            let expected: [MirrorName: String] = [
                "Work/changed.ics": "new", "Work/changed (changed here).ics": "mine",
                "Work/gone (changed here).ics": "mine", "Work/touched.ics": "new", "Work/same.ics": "new",
            ]
            #expect(try fixture.files() == expected)
            let subjects: Set<MirrorName> = ["Work/changed (changed here).ics", "Work/gone (changed here).ics"]
            #expect(Set(told.map { MirrorName($0.subject) }) == subjects && told.count == 2)
            #expect(try Set(fixture.kept()) == subjects)
            #expect(try fixture.mirror().complete().isEmpty)
            #expect(try fixture.files() == expected)
            // A second change is kept in another file, and nothing of the first change is lost.
            try Files.write("mine too", to: folder + "/changed.ics")
            #expect(try fixture.mirror().complete().count == 1)
            #expect(try fixture.files()["Work/changed (changed here 2).ics"] == "mine too")
            // A person who removes a kept file has seen it, so its issue ends.
            Files.remove(folder + "/changed (changed here).ics")
            try fixture.mirror().complete()
            #expect(
                try Set(fixture.kept()) == ["Work/changed (changed here 2).ics", "Work/gone (changed here).ics"])
        }
    }

    @Test("A change of the same size within the clock's step is found by its content")
    func sameLooks() throws {
        try withMirror { fixture in
            try fill(fixture, "a", "b")
            for name in ["a", "b"] {
                let path = "\(fixture.calendars)/Work/\(name).ics"
                var before = stat()
                #expect(lstat(path, &before) == 0)
                let file = Glibc.open(path, O_WRONLY | O_CLOEXEC)
                #expect(pwrite(file, "X", 1, 0) == 1)
                var times = [before.st_atim, before.st_mtim]
                #expect(futimens(file, &times) == 0)
                close(file)
            }
            try fixture.put("/w/a.ics", "new")
            try fixture.remove("/w/b.ics")
            try fixture.mirror().follow()
            #expect(
                try fixture.files() == [
                    "Work/a.ics": "new", "Work/a (changed here).ics": "X on the server",
                    "Work/b (changed here).ics": "X on the server",
                ])
        }
    }

    @Test("A file that a program is writing is kept, also if it still has the server's content")
    func beingWritten() throws {
        try withMirror { fixture in
            try fill(fixture, "a")
            let file = Glibc.open(fixture.calendars + "/Work/a.ics", O_WRONLY | O_APPEND | O_CLOEXEC)
            try fixture.put("/w/a.ics", "new")
            try fixture.mirror().follow()
            #expect(write(file, "!", 1) == 1)
            close(file)
            #expect(
                try fixture.files() == ["Work/a.ics": "new", "Work/a (changed here).ics": "a on the server!"])
        }
    }

    @Test("A calendar that goes leaves what was changed in it; one that is renamed takes that along, with its issue")
    func calendars() throws {
        try withMirror { fixture in
            try fill(fixture, "a", "b")
            try Files.write("mine", to: fixture.calendars + "/Work/a.ics")
            try fixture.mirror().complete()
            try fixture.put(work, "Renamed")
            try fixture.mirror().follow()
            #expect(try fixture.kept() == ["Renamed/a (changed here).ics"])
            let message = try fixture.database.readBlocking { try $0.issues.all() }.first?.message
            #expect(message?.contains("a.ics in \(fixture.calendars)/Renamed was changed here") == true)
            try Files.write("mine too", to: fixture.calendars + "/Renamed/b.ics")
            try fixture.remove(work)
            try fixture.mirror().follow()
            let left: [MirrorName: String] = [
                "Renamed/a (changed here).ics": "mine", "Renamed/b (changed here).ics": "mine too",
            ]
            #expect(try fixture.files() == left)
            #expect(try Set(fixture.kept()) == Set(left.keys))
        }
    }

    @Test("Of files that an older Larder wrote, their looks are the proof")
    func older() throws {
        try withMirror { fixture in
            try fill(fixture, "fine", "mine", "gone")
            try fixture.database.writeBlocking { tx in
                for name in ["fine", "mine", "gone"] {
                    let key = RecordKey("/w/\(name).ics")
                    var row = try #require(try tx.calendarFiles.file(of: key, in: work))
                    (row.digest, row.formerDigest) = (nil, nil)
                    try tx.calendarFiles.store(row, in: work)
                }
            }
            try Files.write("changed", to: fixture.calendars + "/Work/mine.ics")
            for name in ["fine", "mine"] { try fixture.put("/w/\(name).ics", "new") }
            try fixture.remove("/w/gone.ics")
            try fixture.mirror().follow()
            #expect(
                try fixture.files() == [
                    "Work/fine.ics": "new", "Work/mine.ics": "new", "Work/mine (changed here).ics": "changed",
                ])
        }
    }
}
