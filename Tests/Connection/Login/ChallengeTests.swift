import Testing
import Transfer

@testable import Connection

struct ChallengeTests {
    private func challenges(_ fields: String...) -> [Challenge] {
        Challenge.all(in: HTTPHeaders(fields.map { ("WWW-Authenticate", $0) }))
    }

    @Test("C10: challenges are read from several fields and from one, with commas and quotes inside quotes")
    func several() {
        let digest = challenges(#"Digest realm="a, Basic b \"c\"", qop="auth", nonce = x ,stale=TRUE"#)
        #expect(digest.map(\.scheme) == ["digest"])
        #expect(
            digest[0].parameters == ["realm": #"a, Basic b "c""#, "qop": "auth", "nonce": "x", "stale": "TRUE"])
        let both = challenges(#"DIGEST realm="r", nonce="n""#, "Basic realm=\"s\"")
        #expect(both.map(\.scheme) == ["digest", "basic"] && both[0].name == "DIGEST")
        #expect(both.map { $0.parameters["realm"] } == ["r", "s"])
        let one = challenges(#"Negotiate, NTLM TlRMTVNT==, Bearer, Digest realm="r", nonce="n", Basic realm=s"#)
        #expect(one.map(\.scheme) == ["negotiate", "ntlm", "bearer", "digest", "basic"])
        #expect(one[3].parameters == ["realm": "r", "nonce": "n"] && one[4].parameters == ["realm": "s"])
    }

    @Test(
        "C10: whatever stands in the field, reading it ends",
        arguments: [
            "", ",", "=", "\"", "a=b", "\"x\" = y", "Digest \"", "Digest realm=\"\\", "Digest =,=,=", "a b c d",
        ])
    func nonsense(_ field: String) {
        #expect(challenges(field).allSatisfy { DigestChallenge($0) == nil })
    }

    @Test("C10: a challenge that asks for what is not there is none")
    func unsupported() {
        func isTaken(_ parameters: String) -> Bool {
            challenges("Digest " + parameters).contains { DigestChallenge($0) != nil }
        }
        #expect(isTaken(#"realm="r", nonce="n""#))
        #expect(isTaken(#"realm="", nonce="n", qop="auth-int,auth", algorithm=sha-256"#))
        #expect(isTaken(#"realm="r", nonce="n", qop="auth", algorithm=MD5-sess"#))
        for wrong in [
            #"nonce="n""#, #"realm="r""#, #"realm="r", nonce="n", qop="auth-int""#,
            #"realm="r", nonce="n", qop="auth", algorithm=SHA-512-256"#, #"realm="r", nonce="n", algorithm=MD5-sess"#,
        ] {
            #expect(!isTaken(wrong), "\(wrong)")
        }
    }
}
