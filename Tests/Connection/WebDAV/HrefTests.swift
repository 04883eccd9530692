import Model
import Testing

@testable import Connection

struct HrefTests {
    private func place(
        _ href: String, root: String = "https://h/dav/ada%20b/", asked: String? = nil
    ) throws -> HrefReader.Place {
        try HrefReader(root: ServerAddress(root), asked: ServerAddress(asked ?? root)).place(of: href)
    }

    @Test(
        "an href is absolute, a path or relative, in any encoding",
        arguments: [
            "https://h/dav/ada%20b/Docs/a.txt", "http://inner:8080/dav/ada%20b/Docs/a.txt", "/dav/ada%20b/Docs/a.txt",
            "/dav/ada b/Docs/a.txt", "/dav/%61da%20b/%44ocs/a%2etxt", "Docs/a.txt", "./Docs/a.txt",
            "//dav/ada%20b//Docs/a.txt",
            "/dav/ada%20b/Docs/a.txt/",
        ])
    func spellings(_ href: String) throws {
        #expect(try place(href) == .item(path("/Docs/a.txt")))
    }

    @Test("relative hrefs begin at the folder that was asked for")
    func relative() throws {
        #expect(try place("b.txt", asked: "https://h/dav/ada%20b/Docs") == .item(path("/Docs/b.txt")))
    }

    @Test("the root itself, with and without a slash, at the server's root too")
    func root() throws {
        #expect(try place("/dav/ada%20b/") == .item(.root))
        #expect(try place("/dav/ada%20b") == .item(.root))
        #expect(try place("https://h", root: "https://h/") == .item(.root))
        #expect(try place("/", root: "https://h/") == .item(.root))
        #expect(try place("/a", root: "https://h/") == .item(path("/a")))
    }

    @Test("hard names come through byte by byte; what begins no encoding stands for itself")
    func names() throws {
        #expect(try place("/dav/ada%20b/100%25%20%23a%3Fb%3Bc") == .item(path("/100% #a?b;c")))
        #expect(try place("/dav/ada%20b/100%") == .item(path("/100%")))
        #expect(try place("/dav/ada%20b/a?b#c%zz") == .item(path("/a?b#c%zz")))
        let (composed, decomposed) = (try place("/dav/ada%20b/%C3%A9"), try place("/dav/ada%20b/e%CC%81"))
        #expect(composed == .item(path("/\u{e9}")) && decomposed == .item(path("/e\u{301}")))
        #expect(composed != decomposed)
    }

    @Test(
        "a name that cannot be kept below a folder is refused with the reason",
        arguments: [
            ("/dav/ada%20b/../x", ItemPath.Problem.dotName), ("/dav/ada%20b/%2e%2e/%2e%2e/etc", .dotName),
            ("/../../etc", .dotName),
            ("/dav/ada%20b/.", .dotName), ("/dav/ada%20b/a%2Fb", .slashInName),
            ("/dav/ada%20b/a%2f..%2fb", .slashInName),
            ("/dav/ada%20b/a%00b", .nul), ("/dav/ada%20b/%FF%FE", .notUTF8), ("/dav/ada%20b/%C3", .notUTF8),
            ("/dav/ada%20b/\(String(repeating: "x", count: 256))", .nameTooLong),
            ("/dav/ada%20b/\(String(repeating: "xxxxxxx/", count: 500))", .pathTooLong),
        ])
    func refused(_ href: String, _ problem: ItemPath.Problem) throws {
        #expect(try place(href) == .refused(problem))
    }

    @Test(
        "what is not below the root is elsewhere",
        arguments: ["/dav/ada%20bc/x", "/dav/", "/other/", "/DAV/ada%20b/x", "https://h/"])
    func elsewhere(_ href: String) throws {
        #expect(try place(href) == .elsewhere)
    }
}
