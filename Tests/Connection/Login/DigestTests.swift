import Testing
import Transfer

@testable import Connection

struct DigestTests {
    /// Returns the answer to a challenge for `GET /dir/index.html`.
    private func answer(
        _ field: String, _ username: String = "Mufasa", _ password: String = "Circle of Life",
        _ clientNonce: String = "",
        count: UInt32 = 1
    ) throws -> DigestAnswer {
        let challenges = Challenge.all(in: ["WWW-Authenticate": field])
        return DigestAnswer(
            to: try #require(challenges.first.flatMap(DigestChallenge.init)), method: "GET", uri: "/dir/index.html",
            username: username, password: password, count: count, clientNonce: clientNonce)
    }

    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    /// The challenge of RFC 7616, section 3.9.1.
    private func challenge(_ algorithm: String) -> String {
        """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), nonce="\(Self.nonce)", \
        opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    }

    @Test("C10: the examples of RFC 7616, with MD5 and SHA-256")
    func examples() throws {
        let md5 = try answer(challenge("MD5"), "Mufasa", "Circle of Life", Self.clientNonce)
        #expect(md5.response == "8ca523f5e9506fed4657c9700eebdbec")
        #expect(
            md5.field == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="\(Self.nonce)", \
                uri="/dir/index.html", response="8ca523f5e9506fed4657c9700eebdbec", algorithm=MD5, qop=auth, \
                nc=00000001, cnonce="\(Self.clientNonce)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
                """)
        let sha = try answer(challenge("SHA-256"), "Mufasa", "Circle of Life", Self.clientNonce)
        #expect(sha.response == "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
    }

    @Test("C10: the example of RFC 2617, and that of RFC 2069 for servers without qop")
    func olderExamples() throws {
        let start = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093""#
        let newer = try answer(start + #", qop="auth""#, "Mufasa", "Circle Of Life", "0a4f113b")
        #expect(newer.response == "6629fae49393a05397450978507c4ef1")
        // The response as the erratum 749 of the RFC has it.
        let older = try answer(start, "Mufasa", "CircleOfLife")
        #expect(older.response == "1949323746fe6a43ef61f9606e7febea")
        for absent in ["qop", "nc=", "cnonce", "algorithm", "opaque"] { #expect(!older.field.contains(absent)) }
    }

    @Test("C10: a session's first hash covers the nonces, and a name may go as a hash")
    func variants() throws {
        // Computed with Python's hashlib.
        let session = try answer(challenge("MD5-sess"), "Mufasa", "Circle of Life", Self.clientNonce)
        #expect(session.response == "e783283f46242139c486a698fec7211d" && session.field.contains("algorithm=MD5-sess"))
        let sha = try answer(challenge("SHA-256-sess"), "Mufasa", "Circle of Life", Self.clientNonce)
        #expect(sha.response == "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7")
        let hashed = try answer(
            #"Digest realm="api@example.org", nonce="n", qop=auth, algorithm=SHA-256, userhash=true"#,
            "J\u{e4}s\u{f8}n Doe")
        let name = "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7"
        #expect(hashed.field.hasPrefix("Digest username=\"\(name)\", ") && hashed.field.hasSuffix(", userhash=true"))
    }

    @Test("C10: the count has eight hexadecimal digits, and quotes in a name are escaped")
    func fields() throws {
        let field = try answer(challenge("MD5"), #"a"b\c"#, count: 0x1234ab).field
        #expect(field.contains("nc=001234ab,") && field.hasPrefix(#"Digest username="a\"b\\c", "#))
    }

    @Test("C1: an answer and a proof print as nothing")
    func secrets() throws {
        let answer = try answer(challenge("MD5"))
        for proof in [
            Authorization.digest(answer), .basic(username: "ada", password: "hunter2"), .bearer(token: "tok"),
        ] {
            let text = "\(proof) \(String(reflecting: proof)) \(answer)"
            for secret in [answer.response, "hunter2", "tok"] { #expect(!text.contains(secret)) }
        }
    }
}
