import Glibc
import Model
import TestSupport
import Testing

@testable import Database
@testable import Vault

@Suite("Calendars' files that were changed here")
struct ChangedCalendarFileTests {
    private func fill(_ bench: MirrorBench, _ names: String...) throws {
        try bench.put(work, "Work")
        for name in names { try bench.put("/w/\(name).ics", "\(name) on the server") }
        try bench.mirror().follow()
    }

    @Test("What changes or goes on the server leaves what was made of it here, told once")
    func kept() throws {
        try withMirror { bench in
            let folder = bench.calendars + "/Work"
            try fill(bench, "changed", "gone", "touched", "same")
            for name in ["changed", "gone"] { try Files.write("mine", to: "\(folder)/\(name).ics") }
            utimensat(AT_FDCWD, folder + "/touched.ics", nil, 0)
            for name in ["changed", "touched", "same"] { try bench.put("/w/\(name).ics", "new") }
            try bench.remove("/w/gone.ics")
            let told = try bench.mirror().follow()
            let expected: [MirrorName: String] = [
                "Work/changed.ics": "new", "Work/changed (changed here).ics": "mine",
                "Work/gone (changed here).ics": "mine", "Work/touched.ics": "new", "Work/same.ics": "new",
            ]
            #expect(try bench.files() == expected)
            let subjects: Set<MirrorName> = ["Work/changed (changed here).ics", "Work/gone (changed here).ics"]
            #expect(Set(told.map { MirrorName($0.subject) }) == subjects && told.count == 2)
            #expect(try Set(bench.kept()) == subjects)
            #expect(try bench.mirror().complete().isEmpty)
            #expect(try bench.files() == expected)
            // Another change is another file, and nothing of the first one is lost.
            try Files.write("mine too", to: folder + "/changed.ics")
            #expect(try bench.mirror().complete().count == 1)
            #expect(try bench.files()["Work/changed (changed here 2).ics"] == "mine too")
            // Who takes a kept file away has seen it.
            Files.remove(folder + "/changed (changed here).ics")
            try bench.mirror().complete()
            #expect(
                try Set(bench.kept()) == ["Work/changed (changed here 2).ics", "Work/gone (changed here).ics"])
        }
    }

    @Test("A change of the same size within the clock's step is found by its content")
    func sameLooks() throws {
        try withMirror { bench in
            try fill(bench, "a", "b")
            for name in ["a", "b"] {
                let path = "\(bench.calendars)/Work/\(name).ics"
                var before = stat()
                #expect(lstat(path, &before) == 0)
                let file = Glibc.open(path, O_WRONLY | O_CLOEXEC)
                #expect(pwrite(file, "X", 1, 0) == 1)
                var times = [before.st_atim, before.st_mtim]
                #expect(futimens(file, &times) == 0)
                close(file)
            }
            try bench.put("/w/a.ics", "new")
            try bench.remove("/w/b.ics")
            try bench.mirror().follow()
            #expect(
                try bench.files() == [
                    "Work/a.ics": "new", "Work/a (changed here).ics": "X on the server",
                    "Work/b (changed here).ics": "X on the server",
                ])
        }
    }

    @Test("A file that a program is writing is kept, also if it still has the server's content")
    func beingWritten() throws {
        try withMirror { bench in
            try fill(bench, "a")
            let file = Glibc.open(bench.calendars + "/Work/a.ics", O_WRONLY | O_APPEND | O_CLOEXEC)
            try bench.put("/w/a.ics", "new")
            try bench.mirror().follow()
            #expect(write(file, "!", 1) == 1)
            close(file)
            #expect(
                try bench.files() == ["Work/a.ics": "new", "Work/a (changed here).ics": "a on the server!"])
        }
    }

    @Test("A calendar that goes leaves what was changed in it; one that is renamed takes that along, with its issue")
    func calendars() throws {
        try withMirror { bench in
            try fill(bench, "a", "b")
            try Files.write("mine", to: bench.calendars + "/Work/a.ics")
            try bench.mirror().complete()
            try bench.put(work, "Renamed")
            try bench.mirror().follow()
            #expect(try bench.kept() == ["Renamed/a (changed here).ics"])
            let message = try bench.database.readBlocking { try $0.issues.all() }.first?.message
            #expect(message?.contains("a.ics in \(bench.calendars)/Renamed was changed here") == true)
            try Files.write("mine too", to: bench.calendars + "/Renamed/b.ics")
            try bench.remove(work)
            try bench.mirror().follow()
            let left: [MirrorName: String] = [
                "Renamed/a (changed here).ics": "mine", "Renamed/b (changed here).ics": "mine too",
            ]
            #expect(try bench.files() == left)
            #expect(try Set(bench.kept()) == Set(left.keys))
        }
    }

    @Test("Of files that an older Larder wrote, their looks are the proof")
    func older() throws {
        try withMirror { bench in
            try fill(bench, "fine", "mine", "gone")
            try bench.database.writeBlocking { tx in
                for name in ["fine", "mine", "gone"] {
                    let key = RecordKey("/w/\(name).ics")
                    var row = try #require(try tx.calendarFiles.file(of: key, in: work))
                    (row.digest, row.formerDigest) = (nil, nil)
                    try tx.calendarFiles.store(row, in: work)
                }
            }
            try Files.write("changed", to: bench.calendars + "/Work/mine.ics")
            for name in ["fine", "mine"] { try bench.put("/w/\(name).ics", "new") }
            try bench.remove("/w/gone.ics")
            try bench.mirror().follow()
            #expect(
                try bench.files() == [
                    "Work/fine.ics": "new", "Work/mine.ics": "new", "Work/mine (changed here).ics": "changed",
                ])
        }
    }
}
