import Model
import Testing

@Suite struct ETagTests {
    @Test("Tags compare weakly: W/, quotes and -gzip are aside")
    func weakComparison() throws {
        let strong = try #require(ETag(field: "\"5f-62\""))
        for field in ["W/\"5f-62\"", "w/\"5f-62\"", "\"5f-62-gzip\"", "5f-62", " \"5f-62\"\r\n", "W/\"5f-62-gzip\""] {
            let tag = try #require(ETag(field: field))
            #expect(tag == strong && tag.hashValue == strong.hashValue, "\(field)")
        }
        #expect(ETag(field: "\"5F-62\"") != strong)
    }

    @Test("Only strong tags make a precondition, in quotes")
    func preconditions() {
        #expect(ETag(field: "\"a\"")?.precondition == "\"a\"")
        #expect(ETag(field: "a")?.precondition == "\"a\"")
        #expect(ETag(field: "W/\"a\"")?.precondition == nil)
        #expect(ETag.substitute(size: 1, lastModified: nil).precondition == nil)
    }

    @Test(
        "C15: tags that differ in a coding's name at the end are told from others",
        arguments: ["v1-br", "v1--gzip", "v1;gzip", "v1-zstd"])
    func codings(_ encoded: String) throws {
        let (plain, other) = (try #require(ETag(field: "\"v1\"")), try #require(ETag(field: "\"\(encoded)\"")))
        #expect(other != plain && other.differsInCoding(from: plain) && plain.differsInCoding(from: other))
        #expect(try !#require(ETag(field: "\"v2-br\"")).differsInCoding(from: plain))
        #expect(try !#require(ETag(field: "\"v1-bro\"")).differsInCoding(from: plain))
        #expect(!ETag.substitute(size: 1, lastModified: nil).differsInCoding(from: plain))
    }

    @Test("C15: a date that cannot be read is a part of the substitute, as text")
    func unreadableDates() {
        let (one, other) = ("Fr, 07 Dez 2018 08:49:58 GMT", "Fr, 07 Dez 2018 09:49:58 GMT")
        for size in [nil, 3, 12_345] as [Int64?] {
            let tag = ETag.substitute(size: size, dateText: one)
            #expect(tag == ETag.substitute(size: size, dateText: one) && tag.hasUnreadableDate)
            #expect(tag != ETag.substitute(size: size, dateText: other))
            #expect(tag != ETag.substitute(size: size, lastModified: nil))
            let dated = ETag.substitute(size: size, dateText: "Fri, 7 Dec 2018 08:49:58 GMT")
            #expect(dated == ETag.substitute(size: size, lastModified: Timestamp(rfc3339: "2018-12-07T08:49:58Z")))
            #expect(!dated.hasUnreadableDate && !ETag.substitute(size: size, dateText: nil).hasUnreadableDate)
        }
        let long = ETag.substitute(size: 1, dateText: String(repeating: "x", count: 1 << 20))
        #expect(long.opaque.utf8.count < 300)
    }

    @Test("Nothing in a field is no tag; odd fields are taken as they are")
    func oddFields() {
        for field in ["", "  ", "\"\"", "W/", "W/\"\""] { #expect(ETag(field: field) == nil, "\(field)") }
        #expect(ETag(field: "\"")?.opaque == "\"")
        #expect(ETag(field: "-gzip")?.opaque == "-gzip")
        #expect(ETag(field: "\"a\"b\"")?.opaque == "a\"b")
    }

    @Test("A substitute never equals a server's tag")
    func substitutes() {
        let substitute = ETag.substitute(size: 3, lastModified: Timestamp(seconds: 1))
        #expect(ETag(opaque: substitute.opaque, strength: .strong) != substitute)
        #expect(substitute == ETag.substitute(size: 3, lastModified: Timestamp(seconds: 1)))
        #expect(substitute != ETag.substitute(size: 4, lastModified: Timestamp(seconds: 1)))
        #expect(substitute != ETag.substitute(size: 3, lastModified: nil))
    }
}
