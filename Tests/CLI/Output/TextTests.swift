import Glibc
import Model
import TestSupport
import Testing

@testable import larder

@Suite struct TextTests {
    @Test("H1: names from a server do not reach a terminal with control characters")
    func visible() {
        #expect(Text.visible("a\nb\u{1b}[31m\u{85}\u{202e}c") == #"a\nb\u001b[31m\u0085\u202ec"#)
        #expect(Text.visible("é😀אب") == "é😀אب")
        #expect(Text.visible("a\u{200b}b\u{feff}c\u{e0041}") == #"a\u200bb\ufeffc\U000e0041"#)
        #expect(Text.visible("می\u{200c}خواهم👩\u{200d}🚀") == "می\u{200c}خواهم👩\u{200d}🚀")
        #expect(Text.visible("\u{200f}\u{2028}\u{61c}\r\t") == #"\u200f\u2028\u061c\r\t"#)
        #expect(Text.visibleLines("a\tb\r\n\u{9b}2J\n\rc\n") == "a\tb\n\\u009b2J\n\\rc\n")
    }

    @Test("H1: a name in a command that a person may copy is one word to every shell")
    func word() {
        let name = "/a b/$(x)`x`'\"\\!~#\n=c:d,é'\u{301}"
        #expect(
            Text.word(name) == ##"/a\ b/\$\(x\)\`x\`\'\"\\\!\~\#\\n\=c:d,é\'"## + "\u{301}" && Text.word("") == "''")
    }

    @Test("H1: whatever is printed, noted or asked moves no cursor and begins no line, in JSON without a change of it")
    func hostile() throws {
        let name = "a\nb\u{1b}[2J\u{9b}2J\u{202e}c\r"
        try withTemporaryFolder { folder in
            let file = open("\(folder)/out", O_CREAT | O_RDWR, 0o600)
            defer { close(file) }
            let console = Console(output: file, errors: file)
            console.print(name)
            console.print(JSONValue.object(["name": .string(name)]))
            try console.flush()
            console.note(name)
            console.ask(name)
            let lines = try Files.text("\(folder)/out").split(separator: "\n").map(String.init)
            let shown = #"a\nb\u001b[2J\u009b2J\u202ec\r"#
            #expect(lines == [shown, "{\"name\":\"\(shown)\"}", shown, shown])
            #expect(try JSONValue(parsing: lines[1])["name"] == .string(name))
        }
        #expect(!Screen.frame([name], .init(columns: 80, rows: 3)).contains("\u{9b}"))
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
        // The requests are TIOCSPTLCK and TIOCGPTPEER, which Swift's Glibc does not declare.
        var isLocked: Int32 = 0
        try #require(ioctl(terminal, 0x4004_5431, &isLocked) == 0)
        let screen = ioctl(terminal, 0x5441, O_RDWR | O_NOCTTY)
        try #require(screen >= 0)
        defer { close(screen) }
        let console = Console(output: screen, errors: screen)
        console.print(document: Array("A\u{1b}[2J\r\nB\n".utf8))
        console.showProgress("3 of 4")
        console.print("done")
        console.showProgress(nil)
        console.print("end")
        // A terminal may deliver the written text in pieces.
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 200)
        while !text.hasSuffix("end\r\n") {
            let count = read(terminal, &bytes, bytes.count)
            try #require(count > 0)
            text += String(decoding: bytes.prefix(count), as: UTF8.self)
        }
        #expect(text == "A\\u001b[2J\r\nB\r\n\r\u{1b}[K3 of 4\r\u{1b}[Kdone\r\n3 of 4\r\u{1b}[Kend\r\n")
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
