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
