import Database
import DemoServer
import Glibc
import ItemList
import LocalTree
import Model
import TestServer
import TestSupport
import Testing
import Vault

@testable import Core
@testable import larder

@Suite("What loops cached, read beside a host")
struct LoopReadingTests {
    private let ics = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Caf\u{e9}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"

    /// Fills a database with two calendars of the same name, one of another name, and shares of `/a/1`.
    private func fill(_ database: Database) async throws {
        let ics = ics
        try await database.write { tx in
            for (key, name) in [("/ada/home/", "Home"), ("/ada/work/", "Same"), ("/ada/more/", "Same")] {
                let value = #"{"name":"\#(name)","href":"/dav\#(key)"}"#
                try tx.records.put(Record(key: RecordKey(key), value: value), in: .calendars)
            }
            let objects = RecordCollection.calendars.of(RecordKey("/ada/home/"))
            let value = #"""
                {"uid":"1","component":"VEVENT","summary":"A \u001b[31mred\nline","start":"2026-01-01T09:00:00Z",
                "end":"2026-01-01T10:00:00Z","rrule":"FREQ=WEEKLY;BYDAY=MO"}
                """#
            try tx.records.put(
                Record(key: RecordKey("/ada/home/1.ics"), version: "7", value: value, content: Array(ics.utf8)),
                in: objects)
            try tx.records.put(
                Record(key: RecordKey("/ada/home/2.ics"), content: Array("no line's end".utf8)), in: objects)
            for (id, path) in [("12", "/a/1"), ("3", "/a/1"), ("4", "/a/none")] {
                let value =
                    #"{"direction":"byMe","path":"\#(path)","shareType":3,"permissions":19,"#
                    + #""sharedWith":"bob","url":null}"#
                try tx.records.put(Record(key: RecordKey(id), value: value), in: .shares)
            }
            let home = LoopKey(kind: LoopKind("calendar"), id: LoopID("/ada/home/"))
            for key in [home, .core] { try tx.loops.enrol(key, plugin: PluginID(shortOrFull: "\(key.kind)-loop")) }
            _ = try tx.loops.commit(
                LoopTurnCommit(
                    from: nil,
                    state: LoopState(
                        key: home, plugin: PluginID("org.larder.calendar-loop"), eventID: EventID("e"),
                        lastPoll: Timestamp(seconds: 0), lastResult: .ok, nextPoll: Timestamp(seconds: 60))))
            try tx.loops.note([
                LoopState(
                    key: .core, plugin: PluginID("org.larder.core-loop"), lastResult: .error, lastError: "no route")
            ])
        }
    }

    @Test("Calendars, their objects, shares and loops are listed as JSON while a host runs")
    func json() async throws {
        try await AccountFixture.running { fixture in
            try await fill(fixture.host.database)
            let cli = try CommandLineRun(fixture)
            let calendars = try await cli("--json", "calendar", "list")
            #expect(calendars.code == 0 && calendars.errors.isEmpty, "\(calendars)")
            #expect(
                calendars.lines == [
                    #"{"id":"/ada/home/","name":"Home","href":"/dav/ada/home/","objects":2,"eventID":"e"}"#,
                    #"{"id":"/ada/more/","name":"Same","href":"/dav/ada/more/","objects":0,"eventID":null}"#,
                    #"{"id":"/ada/work/","name":"Same","href":"/dav/ada/work/","objects":0,"eventID":null}"#,
                ])
            let objects = try await cli("--json", "calendar", "objects", "Home")
            #expect(
                objects.lines == [
                    #"{"id":"/ada/home/2.ics","uid":null,"component":null,"summary":null,"start":null,"end":null,"#
                        + #""rrule":null,"etag":null}"#,
                    #"{"id":"/ada/home/1.ics","uid":"1","component":"VEVENT","summary":"A \u001b[31mred\nline","#
                        + #""start":"2026-01-01T09:00:00Z","end":"2026-01-01T10:00:00Z","#
                        + #""rrule":"FREQ=WEEKLY;BYDAY=MO","etag":"7"}"#,
                ])
            #expect(
                try await cli("--json", "calendar", "objects", "Home", "--ics").lines[0].contains(#""ics":"BEGIN:"#))
            let shares = try await cli("--json", "share", "list")
            #expect(
                shares.lines.first
                    == #"{"id":"12","direction":"byMe","path":"/a/1","shareType":3,"owner":null,"sharedWith":"bob","#
                    + #""permissions":19,"expiration":null,"url":null,"state":null}"#)
            #expect(shares.lines.count == 3)
            let loops = try await cli("--json", "loop", "list")
            #expect(
                loops.lines == [
                    #"{"id":"core","kind":"core","plugin":"org.larder.core-loop","enabled":true,"eventID":null,"#
                        + #""lastPoll":null,"lastResult":"error","lastError":"no route","nextPoll":null}"#,
                    #"{"id":"/ada/home/","kind":"calendar","plugin":"org.larder.calendar-loop","enabled":true,"#
                        + #""eventID":"e","lastPoll":"1970-01-01T00:00:00Z","lastResult":"ok","lastError":null,"#
                        + #""nextPoll":"1970-01-01T00:01:00Z"}"#,
                ])
            let status = try await cli("--json", "status")
            #expect(status.output.contains(#""loops":[{"id":"core","kind":"core","#), "\(status)")
            // The time of the next poll is known while a host runs.
            try await fixture.close()
            #expect(try await cli("--json", "loop", "list").output.contains("00:01:00Z") == false)
            #expect(try await cli("--json", "status").output.contains("00:01:00Z") == false)
            try await fixture.start()
        }
    }

    @Test("People get tables, without control characters, and iCalendar byte for byte")
    func text() async throws {
        try await AccountFixture.running { fixture in
            try await fill(fixture.host.database)
            let cli = try CommandLineRun(fixture)
            #expect(
                try await cli("calendar", "list").lines == [
                    "NAME  OBJECTS  ID", "Home        2  /ada/home/", "Same        0  /ada/more/",
                    "Same        0  /ada/work/",
                ])
            let objects = try await cli("calendar", "objects", "/ada/home/")
            #expect(
                objects.lines.last
                    == #"2026-01-01T09:00:00Z  2026-01-01T10:00:00Z  A \u001b[31mred\nline  weekly"#, "\(objects)")
            let all = try await cli("calendar", "objects", "/dav/ada/home/", "--ics")
            #expect(Array(all.output.utf8) == Array((ics + "no line's end\n").utf8))
            #expect(try await cli("share", "list").lines.count == 4)
            #expect(try await cli("loop", "list").lines[1].hasPrefix("core      error   -"))
            let status = try await cli("status")
            #expect(status.lines.contains("  loops      1 ok, 1 error"), "\(status)")
            #expect(status.lines.contains("  loop       core:core: no route"), "\(status)")
        }
    }

    @Test("A share's type is a word for people, its end is RFC 3339, and its id, which may be long, comes last")
    func shareTable() async throws {
        try await AccountFixture.running { fixture in
            let id = String(repeating: "f", count: 110)
            try await fixture.host.database.write { tx in
                for (id, type, end) in [
                    ("1", 0, "2026-12-24 00:00:00"), ("2", 3, "2026-12-24"), ("3", 42, "soon"),
                    (id, 1, "2026-12-24T10:00:00+02:00"),
                ] {
                    let value = #"{"direction":"byMe","path":"/a","shareType":\#(type),"expiration":"\#(end)"}"#
                    try tx.records.put(Record(key: RecordKey(id), value: value), in: .shares)
                }
            }
            let cli = try CommandLineRun(fixture)
            #expect(
                try await cli("share", "list").lines == [
                    "PATH  DIRECTION  TYPE   WITH  UNTIL                 STATE  ID",
                    "/a    byMe       user   -     2026-12-24T00:00:00Z  -      1",
                    "/a    byMe       link   -     2026-12-24T00:00:00Z  -      2",
                    "/a    byMe       42     -     -                     -      3",
                    "/a    byMe       group  -     2026-12-24T08:00:00Z  -      \(id)",
                ])
            let json = try await cli("--json", "share", "list").lines
            #expect(json.map { $0.contains(#""expiration":"2026-12-24T00:00:00Z""#) } == [true, true, false, false])
            #expect(json[2].contains(#""shareType":42"#) && json[2].contains(#""expiration":null"#))
        }
    }

    @Test("That nothing is known yet is said before the server was asked; after that, what it answered")
    func nothing() async throws {
        try await AccountFixture.running { fixture in
            let cli = try CommandLineRun(fixture)
            _ = try await fixture.host.database.write { tx in
                try tx.loops.enrol(.core, plugin: PluginID(shortOrFull: "core-loop"))
            }
            let words: [(LoopResult?, String)] = [
                (nil, "no shares are known yet; `larder run --once` asks the server"), (.ok, "there are no shares"),
                (.notOffered, "the server offers no shares"),
                (
                    .error,
                    "no shares are known, because the last poll of the server failed; `larder loop list` says why"
                ),
            ]
            for (result, expected) in words {
                try await fixture.host.database.write { tx in
                    guard let result else { return }
                    try tx.loops.note([
                        LoopState(key: .core, plugin: PluginID("org.larder.core-loop"), lastResult: result)
                    ])
                }
                #expect(try await cli("share", "list").errors == expected + "\n")
                let calendars = expected.replacing("shares", with: "calendars")
                #expect(try await cli("calendar", "list").errors == calendars + "\n")
            }
        }
    }

    @Test("A condition that asks for what is gone lists it, and one that does not says nothing of it")
    func removed() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a", "/b", "/F/c"] { fixture.put(path, path) }
            try await fixture.pin("/")
            try await fixture.runWell()
            for path in ["/a", "/F/c"] { fixture.server.tree.remove(path) }
            try await fixture.runWell()
            let cli = try CommandLineRun(fixture)
            func listed(_ words: String...) async throws -> [String] {
                try await cli(["--json", "ls", "-r", "/"] + words).lines.compactMap { line in
                    line.firstMatch(of: /"path":"([^"]*)"/).map { String($0.1) }
                }
            }
            let gone = ["/F/c", "/a"]
            for condition in ["removed", "removed == true", "removedAt != null", "type == 'file' && !(!removed)"] {
                #expect(try await listed("--where", condition) == gone, "\(condition)")
            }
            #expect(try await listed("--where", "!removed") == ["/F", "/b"])
            #expect(try await listed("--where", "type == 'file'") == ["/b"])
            #expect(try await listed("--where", "type == 'file'", "--removed") == ["/F/c", "/a", "/b"])
        }
    }

    @Test("Issues are listed as many as are wanted, the oldest first, and the rest is counted")
    func issueLimit() async throws {
        try await AccountFixture.running { fixture in
            try await fixture.host.database.write { tx in
                for number in 0..<5 {
                    _ = try tx.issues.file(
                        Model.Issue(
                            code: "test", subject: "/\(number)", message: "m\(number)", choices: [],
                            created: Timestamp(seconds: Int64(number))))
                }
            }
            let cli = try CommandLineRun(fixture)
            let some = try await cli("--json", "issue", "list", "--limit", "2")
            #expect(
                some.lines.map { $0.contains(#""message":"m0""#) || $0.contains(#""message":"m1""#) } == [true, true])
            #expect(some.errors == "3 more issues are not listed; `larder issue list --limit 5` lists all\n")
            for limit in [[], ["--limit", "5"], ["--limit", "9"]] {
                let all = try await cli(["--json", "issue", "list"] + limit)
                #expect(all.lines.count == 5 && all.errors == "")
            }
            for limit in ["0", "-1", "x"] { #expect(try await cli("issue", "list", "--limit=\(limit)").code == 64) }
        }
    }

    @Test("The table of policies has an id, which may be long, in its last column")
    func policyTable() async throws {
        try await AccountFixture.running { fixture in
            let id = String(repeating: "f", count: 110)
            try await fixture.host.database.write { tx in
                for (id, description) in [("1", "all songs"), (id, nil)] as [(String, String?)] {
                    try tx.policies.add(
                        ItemPolicy(
                            id: PolicyID(id), kind: .availableOffline, description: description,
                            condition: "path == '/\(id.prefix(1))'"), by: .somebody)
                }
            }
            #expect(
                try await CommandLineRun(fixture)("policy", "list").lines == [
                    "KIND              ITEMS  BYTES  WHERE         DESCRIPTION  ID",
                    "availableOffline      0    0 B  path == '/1'  all songs    1",
                    "availableOffline      0    0 B  path == '/f'  -            \(id)",
                ])
        }
    }

    @Test("A calendar that there is not, or more than once, is 66 and names the candidates; an empty table is none")
    func candidates() async throws {
        try await AccountFixture.running { fixture in
            let cli = try CommandLineRun(fixture)
            for words in [["calendar", "list"], ["share", "list"], ["loop", "list"]] {
                let empty = try await cli(words)
                #expect(empty.code == 0 && empty.output.isEmpty, "\(empty)")
                #expect(empty.errors.contains("known yet"))
                #expect(try await cli(["--json"] + words).errors.isEmpty)
            }
            #expect(try await cli("calendar", "objects", "Home").code == 66)
            try await fill(fixture.host.database)
            let two = try await cli("calendar", "objects", "Same")
            #expect(two.code == 66 && two.errors.contains("/ada/more/, /ada/work/"), "\(two)")
            let none = try await cli("calendar", "objects", "home")
            #expect(none.code == 66 && none.errors.contains("the calendars are: Home, Same, Same"), "\(none)")
        }
    }

    @Test("An item names its shares")
    func shares() async throws {
        try await AccountFixture.running { fixture in
            for path in ["/a/1", "/a/2"] { fixture.put(path, path) }
            try await fixture.runWell()
            try await fill(fixture.host.database)
            let cli = try CommandLineRun(fixture)
            #expect(try await cli("--json", "stat", "/a/1").output.contains(#""shares":["12","3"]"#))
            let list = try await cli("--json", "ls", "/a")
            #expect(list.lines.map { $0.contains(#""shares":["12","3"]"#) } == [true, false])
            #expect(try await cli("stat", "/a/1").output.contains(#"shares           ["12","3"]"#))
        }
    }
}

/// Command lines about the account of a fixture, run in this process.
struct CommandLineRun {
    struct Result {
        var code: Int32
        var output: String
        var errors: String
        var lines: [String] { output.split(separator: "\n").map(String.init) }
    }

    private let folder: String
    private var config: String { folder + "/config.yaml" }

    init(_ fixture: AccountFixture) throws {
        folder = fixture.bookmark.vault + ".cli"
        let account =
            "{ name: home, url: 'https://cloud.example.org', vault: '\(fixture.bookmark.vault)', "
            + "files: '\(fixture.bookmark.files)' }"
        let plugins = FirstParty.plugins.map { "  \($0.id.shortName): { enabled: false }" }.joined(separator: "\n")
        try Files.write("accounts:\n- \(account)\nplugins:\n\(plugins)\n", to: config)
    }

    func callAsFunction(_ words: String...) async throws -> Result { try await self(words) }

    func callAsFunction(_ words: [String]) async throws -> Result {
        let output = open(folder + "/out", O_CREAT | O_TRUNC | O_RDWR, 0o600)
        let errors = open(folder + "/err", O_CREAT | O_TRUNC | O_RDWR, 0o600)
        defer {
            close(output)
            close(errors)
        }
        let code = await Larder.run(["--config", config] + words, console: Console(output: output, errors: errors))
        return Result(
            code: code, output: try Files.text(folder + "/out"), errors: try Files.text(folder + "/err"))
    }
}
