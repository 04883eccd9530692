import Model
import Testing

@Suite struct ItemPathTests {
    @Test("A path that would leave the tree, or cannot be a file's, is refused with the reason")
    func refusals() {
        let cases: [(String, ItemPath.Problem)] = [
            ("", .notAbsolute), ("a/b", .notAbsolute), ("//", .emptyName), ("/a//b", .emptyName), ("/a/./b", .dotName),
            ("/..", .dotName), ("/a/../b", .dotName), ("/a/..", .dotName), ("/a\0b", .nul),
            ("/" + String(repeating: "x", count: 256), .nameTooLong),
            (String(repeating: "/abcdefghi", count: 351), .pathTooLong),
        ]
        for (text, problem) in cases {
            #expect(throws: problem) { try ItemPath(text) }
        }
        #expect(throws: ItemPath.Problem.slashInName) { try ItemPath.root.appending("a/b") }
        #expect(throws: ItemPath.Problem.dotName) { try ItemPath.root.appending("..") }
        #expect(throws: ItemPath.Problem.emptyName) { try ItemPath.root.appending("") }
    }

    @Test("A closing slash is dropped, a leading one may be left out when typed, all else stays")
    func spelling() throws {
        #expect(try ItemPath("/a/").text == "/a")
        #expect(try ItemPath("/").isRoot)
        #expect(try ItemPath(typed: "").isRoot)
        #expect(try ItemPath(typed: "a/b/").text == "/a/b")
        #expect(try ItemPath("/...a/ .b/..c").text == "/...a/ .b/..c")
        #expect(try ItemPath("/" + String(repeating: "x", count: 255)).name.utf8.count == 255)
        #expect(try ItemPath("/%2e%2e\n").text == "/%2e%2e\n")
    }

    @Test("Paths are equal only to the same bytes")
    func bytes() throws {
        let nfc = try ItemPath("/\u{e9}")
        let nfd = try ItemPath("/e\u{301}")
        #expect(nfc != nfd)
        #expect(Set([nfc, nfd]).count == 2)
        #expect(nfd < nfc)
        #expect(try ItemPath("/a\u{301}").name == "a\u{301}")
    }

    @Test("Names, parents and what is below")
    func family() throws {
        let photos = try ItemPath("/Photos")
        let inside = try ItemPath("/Photos/2026/a")
        #expect(inside.name == "a" && inside.parent.text == "/Photos/2026" && photos.parent.isRoot)
        #expect(ItemPath.root.parent.isRoot && ItemPath.root.name.isEmpty && ItemPath.root.components.isEmpty)
        #expect(inside.components == ["Photos", "2026", "a"])
        #expect(photos.isAncestor(of: inside) && ItemPath.root.isAncestor(of: photos))
        #expect(!photos.isAncestor(of: photos) && !ItemPath.root.isAncestor(of: .root))
        #expect(try !photos.isAncestor(of: ItemPath("/Photos2/a")))
        #expect(try photos.isParent(of: ItemPath("/Photos/a")) && ItemPath.root.isParent(of: photos))
        #expect(!photos.isParent(of: inside) && !photos.isParent(of: photos) && !photos.isParent(of: .root))
        #expect(try !ItemPath.root.isParent(of: .root) && !photos.isParent(of: ItemPath("/Photos2")))
        #expect(try inside.moved(from: photos, to: ItemPath("/b")).text == "/b/2026/a")
        #expect(inside.moved(from: photos, to: .root).text == "/2026/a")
        #expect(try inside.moved(from: .root, to: ItemPath("/b")).text == "/b/Photos/2026/a")
        #expect(try photos.moved(from: photos, to: ItemPath("/b")).text == "/b")
    }

    @Test("a path is spelled as another that it is or lies below, if they differ in the normalization form alone")
    func spelled() throws {
        let (nfc, nfd) = (try ItemPath("/\u{e9}/b"), try ItemPath("/e\u{301}/b"))
        #expect(nfd.spelled(as: nfc) == nfc && nfc.spelled(as: nfd) == nfd && nfc.spelled(as: nfc) == nfc)
        let below = try nfd.appending("o\u{308}")
        #expect(try below.spelled(as: nfc) == nfc.appending("o\u{308}"))
        for other in ["/", "/e/b", "/e\u{301}", "/\u{e9}/bc"] {
            let other = try ItemPath(other)
            #expect(other.spelled(as: nfc) == other)
        }
    }
}
