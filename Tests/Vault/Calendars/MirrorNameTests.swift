import Model
import TestSupport
import Testing

@testable import Vault

@Suite("The names of calendars' folders and files")
struct MirrorNameTests {
    @Test(
        "A folder is called as its calendar, but never a path, hidden or nothing",
        arguments: [
            ("Work", "/ada/w/", "Work"), ("a/b", "/x/", "a_b"), ("..", "/x/", "_."), (".", "/x/", "_"),
            (".hidden", "/x/", "_hidden"), ("a\u{0}b\nc\u{7f}", "/x/", "a_b_c_"), ("", "/ada/w%20x/", "w x"),
            (nil, "/ada/caf%C3%A9/", "caf\u{e9}"), (nil, "/ada/%FF/", "%FF"), (nil, "/ada/%2e%2e/", "_."),
            (nil, "/ada/a%2Fb/", "a_b"), (nil, "/", "calendar"), (nil, "", "calendar"), ("50% %zz", "/x/", "50% %zz"),
        ] as [(String?, String, String)])
    func folders(title: String?, key: String, name: String) {
        #expect(MirrorName.folder(title: title, key: RecordKey(key)) == MirrorName(name))
    }

    @Test(
        "A file is called as the end of its path and ends in .ics",
        arguments: [
            ("/ada/w/1.ics", "1.ics"), ("/ada/w/1", "1.ics"), ("/ada/w/1.ICS", "1.ics"),
            ("/ada/w/a%20b.ics", "a b.ics"),
            ("/ada/w/.ics", "object.ics"), ("/ada/w/..ics", "_.ics"), ("/ada/w/%2e%2e%2fx.ics", "_._x.ics"),
            ("/ada/w/100%.ics", "100%.ics"), ("/ada/w/%+1.ics", "%+1.ics"), ("/ada/w/x.ics/", "x.ics"),
            ("/w/%C3%28.ics", "%C3%28.ics"),
        ])
    func files(key: String, name: String) {
        #expect(MirrorName.file(key: RecordKey(key)) == MirrorName(name))
    }

    @Test("A long name is cut in whole characters")
    func long() {
        let family = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}"
        let name = MirrorName.folder(title: String(repeating: family, count: 100), key: work).text
        #expect(name == String(repeating: family, count: 200 / family.utf8.count))
        let one = MirrorName.folder(title: "e" + String(repeating: "\u{301}", count: 1_000), key: work).text
        #expect(one.utf8.count <= 200 && one.utf8.count > 190)
        let file = MirrorName.file(key: RecordKey("/" + String(repeating: "\u{e9}", count: 500) + ".ics"))
        #expect(file.text.utf8.count == 204 && file.text.hasSuffix("\u{e9}.ics"))
        #expect(file.distinguished(by: "2").text.hasSuffix("\u{e9} (2).ics"))
        #expect(file.shortened.text.utf8.count == 68 && file.shortened.text.hasSuffix("\u{e9}.ics"))
    }

    @Test("Of many with one name each gets another, and the same again; a file system's limit shortens them")
    func free() throws {
        var taken: Set<MirrorName> = []
        for number in 0..<30 {
            let name = try MirrorName("x.ics").firstFree(for: RecordKey("/\(number)/x")) {
                taken.contains($0) ? .taken : .free
            }
            #expect(taken.insert(name).inserted && name.text.hasSuffix(".ics"))
        }
        #expect(taken.isSuperset(of: ["x.ics", "x (2).ics", "x (9).ics"]))
        let long = MirrorName(String(repeating: "a", count: 200))
        #expect(try long.firstFree(for: work) { $0.text.utf8.count > 143 ? .tooLong : .free }.text.utf8.count == 64)
        #expect(throws: Failure.self) { try long.firstFree(for: work) { _ in .tooLong } }
        #expect(throws: Failure.self) { try long.firstFree(for: work) { _ in .taken } }
    }
}
