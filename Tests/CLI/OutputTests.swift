import Glibc
import Logging
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct ExplanationTests {
    private static let at = Timestamp(rfc3339: "2026-11-28T10:12:30.5Z")

    private func explanation(
        _ because: String?, now: [String] = [], then: [String] = [], changes: Bool = false, cleanup: Bool = false,
        trigger: Trigger? = .itemListUpdateCompleted
    ) throws -> Explanation {
        var explanation = Explanation(plugin: PluginID("org.example.x"), kind: PolicyKind("x"))
        explanation.trigger = trigger
        explanation.cleanup = cleanup
        explanation.because = try because.map { try Condition(parsing: $0) }
        func wishes(_ names: [String]) -> [Wish] {
            names.map { Wish(plugin: explanation.plugin, call: "performCleanup", path: nil, would: $0) }
        }
        (explanation.now, explanation.then) = (wishes(now), wishes(then))
        if changes, let at = Self.at { explanation.change = .init(first: at, named: at, value: !cleanup) }
        return explanation
    }

    @Test("P54: an explanation is a sentence for people, with the day and the time of what comes later")
    func sentences() throws {
        let later = "2026-11-28 at the first scan after 10:12"
        #expect(try explanation(nil, trigger: nil).sentence == "is not called now")
        #expect(try explanation(nil).sentence == "nothing, whatever the item")
        #expect(try explanation("removed").sentence == "nothing: it would need removed")
        #expect(try explanation("removed", cleanup: true).sentence == "nothing, because removed")
        #expect(
            try explanation("favorite", now: ["download"], cleanup: true).sentence
                == "fetches it or keeps it, because favorite")
        #expect(
            try explanation("lastUsed < now", then: ["removeLocalCopy"], changes: true).sentence
                == "expires \(later), because of lastUsed < now")
        #expect(
            try explanation("lastUsed < now", then: ["download"], changes: true, trigger: .itemsChanged).sentence
                == "fetches it or keeps it 2026-11-28 at the first change of the item after 10:12, because of lastUsed < now"
        )
        #expect(
            try explanation("lastUsed > now", now: ["removeLocalCopy"], changes: true, cleanup: true).sentence
                == "removes the copy, because lastUsed > now; another answer from \(later)")
        #expect(
            try explanation("lastUsed < now", changes: true).sentence
                == "nothing: lastUsed < now does not hold; another answer from \(later)")
        let many = try explanation((0..<1_000).map { "name == '\($0)'" }.joined(separator: " || ")).sentence
        #expect(many.count < 600 && many.hasSuffix("… (16886 characters)"), "\(many.suffix(40))")
    }

    @Test(
        "P54: what it would do now is told, or what it will, each thing once; the time is the one that the condition names"
    )
    func json() throws {
        #expect(
            JSON(try explanation("lastUsed < now", then: ["purge", "purge", "putValue"], changes: true)).rendered
                == #"{"plugin":"org.example.x","kind":"x","matches":false,"cleanup":false,"because":"lastUsed < now","#
                + #""would":"purge, putValue","when":"2026-11-28T10:12:30.5Z","policies":[]}"#)
        #expect(
            JSON(try explanation(nil)).rendered.hasSuffix(#""because":null,"would":null,"when":null,"policies":[]}"#))
    }
}

@Suite struct JSONTests {
    @Test("H1: text is escaped as JSON wants it, and stays one line")
    func text() {
        #expect(JSON.text("a\"b\\c\nd\te\u{1}f\u{7f}é😀").rendered == #""a\"b\\c\nd\te\u0001f\u007fé😀""#)
        #expect(
            JSON.object(["a": .null, "b": .list([.int(1), .bool(false)]), "c": .object([])]).rendered
                == #"{"a":null,"b":[1,false],"c":{}}"#)
    }

    @Test("H1: an item has the contract's members, absent ones null")
    func item() {
        var item = Item(localID: LocalID("l"), fileID: nil, path: ItemPath(unchecked: "/a/b"), kind: .file)
        #expect(
            JSON(item, availableOffline: "none", localPath: nil).rendered == """
                {"path":"/a/b","name":"b","type":"file","size":null,"mimeType":null,"etag":null,"fileID":null,\
                "localID":"l","lastModified":null,"lastUsed":null,"cloudStatus":"cloudOnly","downloadTrigger":null,\
                "removed":false,"favorite":false,"remoteVersion":null,"parentPath":"/a","owner":null,"permissions":null,\
                "availableOffline":"none","syncActivity":[],"localPath":null,"shares":[]}
                """)
        item.size = 7
        item.lastModified = Timestamp(nanoseconds: 1_500_000_000)
        item.cloudStatus = .localCopy
        item.downloadTrigger = .availableOffline
        item.syncActivity = [.downloading, .moving]
        let text = JSON(item, availableOffline: "indirect", localPath: "/v/a/b").rendered
        #expect(text.contains(#""size":7,"#) && text.contains(#""lastModified":"1970-01-01T00:00:01.5Z""#))
        #expect(text.contains(#""cloudStatus":"localCopy","downloadTrigger":"availableOffline""#))
        #expect(text.contains(#""syncActivity":["downloading","moving"],"localPath":"/v/a/b""#))
    }

    @Test("H1: policies, records, issues, plugins and errors have the contract's members")
    func others() {
        let policy = ItemPolicy(
            id: PolicyID("p"), kind: .availableOffline, condition: "true", path: ItemPath(unchecked: "/x"))
        #expect(
            JSON(policy, items: 2, bytes: 30).rendered == """
                {"id":"p","kind":"availableOffline","where":"true","identifier":null,"description":null,"path":"/x",\
                "localID":null,"removeWhenNone":null,"items":2,"bytes":30}
                """)
        let record = SyncRecord(
            id: 4, action: .download, state: .ready, localID: LocalID("l"), path: ItemPath(unchecked: "/x"),
            reason: .user,
            since: Timestamp(seconds: 0), wait: .issue(9))
        #expect(
            JSON(SyncRecordReport(record: record, lane: 3)).rendered == """
                {"id":4,"action":"download","path":"/x","state":"ready","lane":3,"since":"1970-01-01T00:00:00Z",\
                "reason":"user","waitsFor":"issue 9","progress":null}
                """)
        #expect(JSON(SyncRecordReport(record: record, lane: 4, progress: 0.5)).rendered.hasSuffix(#""progress":0.5}"#))
        let choice = Model.Issue.Choice(id: "retry", label: "Try again", impact: .nonDestructive)
        let issue = Model.Issue(
            id: 9, record: 4, code: "c", subject: "/x", message: "m", choices: [choice], created: Timestamp(seconds: 0))
        #expect(
            JSON(issue).rendered == """
                {"id":9,"record":4,"code":"c","message":"m","choices":\
                [{"id":"retry","label":"Try again","impact":"nonDestructive"}]}
                """)
        let plugin = PluginReport(
            id: PluginID("a.b"), name: "n", state: .refused, isolation: .inProcess, reason: "r", kinds: ["k"])
        #expect(
            JSON(plugin).rendered == """
                {"id":"a.b","name":"n","version":null,"library":null,"state":"refused","isolation":"in-process",\
                "reason":"r","kinds":["k"],"abi":null}
                """)
        #expect(
            JSON(error: Failure(.vaultLocked, "m", hint: "h")).rendered
                == #"{"error":{"code":"vaultLocked","message":"m","hint":"h"}}"#)
    }
}

@Suite struct TextTests {
    @Test("H1: names from a server do not reach a terminal with control characters")
    func visible() {
        #expect(Text.visible("a\nb\u{1b}[31m\u{85}\u{202e}c") == "a\\nb\\u{1b}[31m\\u{85}\\u{202e}c")
        #expect(Text.visible("é😀") == "é😀")
    }

    @Test("H1: sizes and durations for people")
    func amounts() {
        #expect(
            [0, 999, 1000, 1_249, 9_949, 9_960, 999_499, 999_500, 20_000_000_000, .max].map { Text.bytes($0) } == [
                "0 B", "999 B", "1.0 kB", "1.2 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "20 GB", "9.2 EB",
            ])
        #expect([5, 65, 7500, 90_000].map { Text.rough(.seconds($0)) } == ["5 s", "1 min", "2 h 5 min", "1 d 1 h"])
    }

    @Test("H1: on a terminal the line of progress gives way to what is printed")
    func terminal() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        // TIOCSPTLCK and TIOCGPTPEER, which Swift's Glibc does not show.
        var isLocked: Int32 = 0
        try #require(ioctl(terminal, 0x4004_5431, &isLocked) == 0)
        let screen = ioctl(terminal, 0x5441, O_RDWR | O_NOCTTY)
        try #require(screen >= 0)
        defer { close(screen) }
        let console = Console(output: screen, errors: screen)
        console.showProgress("3 of 4")
        console.print("done")
        console.showProgress(nil)
        console.print("end")
        // A terminal hands on in pieces what was written to it.
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 200)
        while !text.hasSuffix("end\r\n") {
            let count = read(terminal, &bytes, bytes.count)
            try #require(count > 0)
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        #expect(text == "\r\u{1b}[K3 of 4\r\u{1b}[Kdone\r\n3 of 4\r\u{1b}[Kend\r\n")
    }

    @Test("H1: a table is aligned, and empty without rows")
    func table() {
        var table = Table(["id", "path"], numbers: [0])
        #expect(table.lines.isEmpty)
        table.add(["7", "/a\n"])
        table.add(["12", "/bb"])
        #expect(table.lines == ["ID  PATH", " 7  /a\\n", "12  /bb"])
    }
}

@Suite struct ProgressTests {
    @Test("H1: progress tells files, bytes, the rate of late and the time that is left")
    func line() {
        var progress = Progress()
        #expect(progress.line(width: 80) == nil)
        progress.add(.init(files: 0, allFiles: 10, bytes: 0, allBytes: 100_000_000), at: .seconds(1))
        #expect(progress.line(width: 80) == "0 of 10 files · 0 B of 100 MB")
        progress.add(.init(files: 1, allFiles: 10, bytes: 10_000_000, allBytes: 100_000_000), at: .seconds(2))
        #expect(progress.line(width: 80) == "1 of 10 files · 10 MB of 100 MB · 10 MB/s · 9 s left")
        #expect(progress.line(width: 11) == "1 of 10 fi")
        for second in 3...40 {
            progress.add(.init(files: 1, allFiles: 10, bytes: 10_000_000, allBytes: 100_000_000), at: .seconds(second))
        }
        #expect(progress.line(width: 80) == "1 of 10 files · 10 MB of 100 MB · 0 B/s")
        progress.add(.init(files: 10, allFiles: 10, bytes: 100_000_000, allBytes: 100_000_000), at: .seconds(41))
        #expect(progress.line(width: 80) == nil)
    }
}

@Suite struct LogTests {
    @Test("H1: log lines as text and as JSON")
    func lines() {
        var config = LogConfig()
        let text = LineLogHandler(config, console: Console())
        let fields: Logger.Metadata = ["path": "/a b", "account": "home"]
        #expect(
            text.line(.warning, "It\nis so", fields, at: Timestamp(seconds: 0))
                == #"1970-01-01T00:00:00Z warning: It; is so account=home path="/a b""#)
        config.format = .json
        let json = LineLogHandler(config, console: Console())
        #expect(
            json.line(.info, "x", fields, at: Timestamp(seconds: 0)) == """
                {"time":"1970-01-01T00:00:00Z","level":"info","message":"x","fields":{"account":"home","path":"/a b"}}
                """)
    }
}
