import Testing

@testable import Connection

struct ServerAddressTests {
    @Test("an address's parts are found, in any spelling")
    func parts() throws {
        let plain = try ServerAddress("https://Cloud.Example.org")
        #expect(plain.origin == ServerAddress.Origin(isTLS: true, host: "cloud.example.org", port: 443))
        #expect(plain.path == "/")
        #expect(plain.description == "https://cloud.example.org/")
        let full = try ServerAddress("HTTP://h:8080/dav/a%20b/?x=1#top")
        #expect(full.description == "http://h:8080/dav/a%20b/?x=1")
        #expect(try ServerAddress("https://[::1]:8443/x").origin == .init(isTLS: true, host: "[::1]", port: 8443))
        #expect(try ServerAddress("https://[::1]/x").origin.port == 443)
        #expect(try ServerAddress("https://h:443/").origin == ServerAddress("https://h/").origin)
        #expect(try ServerAddress("https://h/grün/{a}").path == "/gr%C3%BCn/%7Ba%7D")
    }

    @Test(
        "what is no address is refused with the reason",
        arguments: [
            ("cloud.example.org", ServerAddress.Problem.notHTTP), ("ftp://h/", .notHTTP), ("https://", .noHost),
            ("https:///path", .noHost), ("https://h:0/", .badPort), ("https://h:99999/", .badPort),
            ("https://h:x/", .badPort), ("https://ada:secret@h/", .hasCredentials), ("https://h /", .badCharacter),
            ("https://h/\r\nX: y", .badCharacter), ("https://gr\u{fc}n/", .badCharacter), ("", .notHTTP),
        ])
    func refused(_ text: String, _ problem: ServerAddress.Problem) {
        #expect(throws: problem) { try ServerAddress(text) }
    }

    @Test(
        "a redirect's target is resolved against the address",
        arguments: [
            ("/new/", "https://h/new/"), ("c?x=y", "https://h/dav/c?x=y"), ("./c", "https://h/dav/c"),
            ("//other/x", "https://other/x"), ("http://h/dav/a", "http://h/dav/a"),
            ("https://h:444/", "https://h:444/"), ("../real/", "https://h/real/"), ("../../x", "https://h/x"),
            ("/a/./b/../c/", "https://h/a/c/"), ("/a/..", "https://h/"), ("/a/b/.", "https://h/a/b/"),
            ("..", "https://h/"), (".", "https://h/dav/"),
            ("/real/?from=http://x/y", "https://h/real/?from=http://x/y"),
            ("?x=y", "https://h/dav/b?x=y"), ("c?to=//x", "https://h/dav/c?to=//x"), ("c#http://x", "https://h/dav/c"),
            ("/a..b/.c/...", "https://h/a..b/.c/..."),
        ])
    func resolving(_ reference: String, _ target: String) throws {
        #expect(try ServerAddress("https://h/dav/b").resolving(reference).description == target)
    }

    @Test("a redirect to what is no web address is refused", arguments: ["mailto:ada@h", "ftp://h/", "h:1/x"])
    func noAddress(_ reference: String) throws {
        let address = try ServerAddress("https://h/dav/b")
        #expect(throws: ServerAddress.Problem.notHTTP) { try address.resolving(reference) }
    }

    @Test("names are encoded so that every server reads them back as the same bytes")
    func encoding() {
        #expect(PercentCoding.encoded(path: "a b/c%d/e?f#g;h+i") == "a%20b/c%25d/e%3Ff%23g%3Bh%2Bi")
        #expect(PercentCoding.encoded(path: "e\u{301}/\u{e9}\n") == "e%CC%81/%C3%A9%0A")
        #expect(PercentCoding.encoded(name: "a/b") == "a%2Fb")
        #expect(PercentCoding.printable("a\u{7f}\u{e9}\n") == "a%7F%C3%A9%0A")
        #expect(PercentCoding.printable(String(repeating: "a", count: 999) + "\u{e9}").hasSuffix("aaa"))
    }

    @Test("a long address is cut for people between two characters, as they are shown")
    func cut() {
        for (href, shown) in [
            ("/abcdefghij", "/abcdefghij"), ("/abcdefghijk", "/abcdefghij…"), ("/abcdefghi%C3%A9", "/abcdefghi…"),
            ("/abcdefgh%C3%A9k", "/abcdefgh\u{e9}…"), ("/abcd%E2%80%AEe", "/abcd…"), ("/%E2%80%AEab", "/%E2%80%AEa…"),
            ("/abcdefg%ff", "/abcdefg%FF"), ("/abcdefgh%ff", "/abcdefgh…"), ("/abcdefgh%2Fx", "/abcdefgh…"),
            ("/abcdefg%2fx", "/abcdefg%2f…"),
        ] { #expect(PercentCoding.readable(href.utf8, atMost: 11) == shown, "\(href)") }
        let long = String(repeating: "%E2%80%AE", count: 400)
        let shown = PercentCoding.readable(long.utf8, atMost: 300)
        #expect(shown == String(repeating: "%E2%80%AE", count: 33) + "…")
    }

    @Test("where the files may be: as the address says, or below remote.php")
    func candidates() throws {
        let home = try ServerAddress("https://h/cloud/")
        let family = RootCandidates.all(for: home, username: "a b", isFamily: true).map(\.path)
        #expect(family == ["/cloud/remote.php/dav/files/a%20b/", "/cloud/remote.php/webdav/"])
        #expect(
            RootCandidates.all(for: home, username: nil, isFamily: true).map(\.path) == ["/cloud/remote.php/webdav/"])
        #expect(RootCandidates.all(for: home, username: "ada", isFamily: false) == [home])
        let exact = try ServerAddress("https://h/cloud/remote.php/dav/files/ada/Photos/")
        #expect(RootCandidates.all(for: exact, username: "ada", isFamily: true) == [exact])
        #expect(RootCandidates.home(of: exact).path == "/cloud/")
    }
}
