import Digests
import Testing

@Suite struct DigestTests {
    /// The values are those of the tools sha256sum, sha1sum and md5sum for `abc`.
    @Test(
        "The digest of each algorithm is the standard's",
        arguments: [
            (MessageDigest.Algorithm.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"), (.md5, "900150983cd24fb0d6963f7d28e17f72"),
        ])
    func standard(algorithm: MessageDigest.Algorithm, value: String) {
        #expect(hexadecimal(MessageDigest.of(Array("abc".utf8), algorithm)) == value)
        var pieces = MessageDigest(algorithm)
        for byte in "abc".utf8 { pieces.update([byte]) }
        #expect(hexadecimal(pieces.value) == value)
    }

    @Test("The digest of nothing is that of an empty file")
    func empty() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(hexadecimal(MessageDigest(.sha256).value) == empty)
        #expect(hexadecimal(MessageDigest.of([])) == empty)
        var digest = MessageDigest(.sha256)
        digest.update(UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(hexadecimal(digest.value) == empty)
    }

    @Test("A copy of a digest is an earlier state, and asking for the value ends nothing")
    func copies() {
        var one = MessageDigest(.sha256)
        one.update(Array("a".utf8))
        var other = one
        #expect(one.value == MessageDigest.of(Array("a".utf8)))
        other.update(Array("b".utf8))
        one.update(Array("c".utf8))
        #expect(one.value == MessageDigest.of(Array("ac".utf8)))
        #expect(other.value == MessageDigest.of(Array("ab".utf8)))
    }

    /// The values are those of Python's zlib.adler32.
    @Test("Adler-32 is RFC 1950's, also for more bytes than fit into one sum")
    func adler32() {
        #expect(Adler32().value == [0, 0, 0, 1])
        var sum = Adler32()
        let bytes = [UInt8](repeating: 0xff, count: 20_000)
        bytes.withUnsafeBytes { whole in
            sum.update(UnsafeRawBufferPointer(rebasing: whole[..<7]))
            sum.update(UnsafeRawBufferPointer(rebasing: whole[7...]))
        }
        #expect(hexadecimal(sum.value) == "9f51d664")
    }
}
