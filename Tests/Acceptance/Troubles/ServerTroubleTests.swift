import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// What a person sees when the server cannot do its part: the right exit code, a hint what to do, and nothing removed.
@Suite(.serialized) struct ServerTroubleTests {
    /// Runs `body` with an account whose files are here, on a server that has got more files since.
    private func withMirror(
        _ configuration: TestServer.Configuration = .init(), more: [String] = [],
        _ body: (TestServer, Account) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running(configuration) { server in
                for index in 0..<30 { server.tree.put("/Photos/\(index).jpg", "picture \(index)") }
                let account = try Account(in: folder, server, more: more)
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let first = try await account.larder("run", "--once")
                #expect(first.exitCode == 0, "\(first.summary)")
                #expect(try account.localFiles().count == 30)
                server.tree.put("/Photos/new.jpg", "new")
                server.forgetRequests()
                try await body(server, account)
                #expect(try account.localFiles().count >= 30, "something was removed")
                #expect(try account.text("Photos/7.jpg") == "picture 7")
            }
        }
    }

    /// Expects a message that says what to do: it has words, no stack, and no type's name.
    private func expectFailure(_ result: ProcessResult, _ code: Int32, mentions: String) {
        #expect(result.exitCode == code, "\(result.summary)")
        #expect(result.errors.contains(mentions), "\(result.summary)")
        #expect(!result.errors.contains("Error(") && !result.errors.contains("Fatal"), "\(result.summary)")
    }

    @Test("server down: 69, within its time")
    func down() async throws {
        try await withMirror { server, account in
            await server.stop()
            expectFailure(try await account.larder("run", "--once", timeout: .seconds(45)), 69, mentions: "127.0.0.1")
        }
    }

    @Test("C2 C1: a wrong password is one request, 77, and in no output")
    func wrongPassword() async throws {
        try await withMirror { server, account in
            try Files.write("wrong-secret\n", to: "\(account.folder)/password", mode: 0o600)
            let result = try await account.larder("--log-level", "trace", "run", "--once")
            expectFailure(result, 77, mentions: "password")
            #expect(server.requests.filter { $0.status == 401 }.count == 1)
            #expect(!result.errors.contains("wrong-secret") && !result.output.contains("wrong-secret"))
        }
    }

    @Test("C2: a host that is refused for a moment says so, and goes on when the password's file is written anew")
    func refusedForAMoment() async throws {
        try await withMirror { server, account in
            server.add(Fault(.status(401)))
            let host = try account.larder.start(["run"], errors: "\(account.folder)/errors")
            defer { host.send(SIGKILL) }
            // The rejection is known before the time of the next attempt, and the next poll is planned after both.
            try await settled {
                let status = try await account.larder("status").output
                return status.contains("home: offline, next poll at ") && status.contains("  rejected   ")
                    && status.contains("; tried again at ")
            }
            #expect(try await account.larder("--json", "status").output.contains(#""refused":{"message""#))
            let issues = try await account.larder("--json", "issue", "list").lines
            #expect(issues.count == 1 && issues[0].contains("connection.authentication"))
            let requests = server.requests.count
            server.removeFaults()
            try Files.write(server.configuration.password + "\n", to: "\(account.folder)/password", mode: 0o600)
            try await settled { try account.text("Photos/new.jpg") == "new" }
            #expect(server.requests.dropFirst(requests).allSatisfy { $0.status < 400 })
            #expect(try await account.larder("--json", "issue", "list").lines == [])
            #expect(try await account.larder("--json", "status").output.contains(#""refused":null"#))
            host.send(SIGTERM)
            #expect(await host.wait() == .code(0))
        }
    }

    /// Waits until a condition holds.
    private func settled(_ isSo: () async throws -> Bool) async throws {
        try await soon("it settles") { try await isSo() }
    }

    @Test(
        "I13: a listing that is no listing is 76, and removes nothing",
        arguments: ["a page", "truncated", "empty"])
    func noListing(_ which: String) async throws {
        let kinds: [String: Fault.Kind] = ["a page": .page, "truncated": .truncatedListing, "empty": .emptyListing]
        try await withMirror { server, account in
            server.add(Fault(try #require(kinds[which]), method: "PROPFIND"))
            let result = try await account.larder("run", "--once")
            expectFailure(result, 76, mentions: "listing /")
            #expect(result.errors.contains(server.url), "\(result.summary)")
        }
    }

    @Test("I13: a folder that answers 500 keeps what is in it, and the rest goes on", arguments: [500, 503])
    func folderFails(_ status: Int) async throws {
        try await withMirror { server, account in
            server.tree.put("/Music/a.ogg", "sound")
            server.add(Fault(.status(status), method: "PROPFIND", path: "/Photos", below: true))
            let result = try await account.larder("run", "--once")
            #expect(result.exitCode != 0, "\(result.summary)")
            server.removeFaults()
            let next = try await account.larder("run", "--once")
            #expect(next.exitCode == 0, "\(next.summary)")
            #expect(try account.text("Music/a.ogg") == "sound")
            #expect(try account.text("Photos/new.jpg") == "new")
        }
    }

    @Test("a url that leads nowhere is 76, and says what to look at")
    func nowhere() async throws {
        try await withMirror { server, account in
            server.add(Fault(.status(404), method: "PROPFIND"))
            let result = try await account.larder("run", "--once")
            expectFailure(result, 76, mentions: "check the account's url")
        }
    }

    @Test("a name from the server moves no cursor and makes no line in an error")
    func controlCharacters() async throws {
        try await withMirror { server, account in
            let name = "/Photos/\u{1b}]0;title\u{7}\u{1b}[31mred\nnext"
            server.tree.put(name, "never")
            server.add(Fault(.status(500), method: "GET", path: name))
            let result = try await account.larder("run", "--once")
            expectFailure(result, 1, mentions: "\\u001b[31mred\\nnext")
            #expect(!result.errors.contains("\u{1b}"), "\(result.summary)")
        }
    }

    @Test("one file answers 500 for ever: all others are here, exit 1, its name printed")
    func oneFileFails() async throws {
        try await withMirror { server, account in
            server.tree.put("/Photos/broken.jpg", "never")
            server.add(Fault(.status(500), method: "GET", path: "/Photos/broken.jpg"))
            let result = try await account.larder("run", "--once")
            expectFailure(result, 1, mentions: "/Photos/broken.jpg")
            #expect(try account.text("Photos/new.jpg") == "new")
            #expect(try account.text("Photos/broken.jpg") == nil)
        }
    }

    @Test("S14: a body that is cut off, too short or not what its checksum says is never put in place")
    func badBodies() async throws {
        try await withMirror { server, account in
            server.tree.put("/cut", "0123456789")
            server.tree.put("/short", "0123456789")
            server.tree.put("/sum", "0123456789")
            server.add(Fault(.cutOff(afterBytes: 0), method: "GET", path: "/cut"))
            server.add(Fault(.wrongLength(by: -3), method: "GET", path: "/short"))
            server.add(Fault(.wrongChecksum, method: "GET", path: "/sum"))
            let result = try await account.larder("run", "--once")
            expectFailure(result, 1, mentions: "/sum")
            #expect(result.errors.contains("/cut") && result.errors.contains("/short"))
            for name in ["cut", "short", "sum"] { #expect(try account.text(name) == nil) }
            server.removeFaults()
            for line in try await account.larder("--json", "issue", "list").lines {
                let id = try #require(line.split(separator: ":").dropFirst().first?.prefix { $0.isNumber })
                #expect(try await account.larder("issue", "resolve", String(id), "retry").exitCode == 0)
            }
            let next = try await account.larder("run", "--once")
            #expect(next.exitCode == 0, "\(next.summary)")
            for name in ["cut", "short", "sum"] { #expect(try account.text(name) == "0123456789") }
        }
    }

    @Test("S23: a server that is busy for a moment is asked again after the time that it names")
    func busy() async throws {
        try await withMirror { server, account in
            server.add(Fault(.status(503, retryAfter: 1), method: "GET", path: "/Photos/new.jpg", times: 1))
            let result = try await account.larder("run", "--once")
            #expect(result.exitCode == 0, "\(result.summary)")
            #expect(try account.text("Photos/new.jpg") == "new")
        }
    }

    @Test("S23: a listing that the server has no time for now is asked for again after the time that it names")
    func busyListing() async throws {
        try await withMirror { server, account in
            server.add(Fault(.status(429, retryAfter: 1), method: "PROPFIND", times: 1))
            let result = try await account.larder("run", "--once")
            #expect(result.exitCode == 0, "\(result.summary)")
            #expect(try account.text("Photos/new.jpg") == "new")
        }
    }

    @Test("C8: a redirect to another origin is refused with its address, and the password stays here")
    func redirect() async throws {
        try await withMirror { server, account in
            try await TestServer.running { other in
                server.add(Fault(.redirect(to: other.folderURL), method: "PROPFIND"))
                let result = try await account.larder("run", "--once")
                #expect(result.exitCode == 77 || result.exitCode == 76, "\(result.summary)")
                #expect(result.errors.contains("127.0.0.1:\(other.port)"), "\(result.summary)")
                #expect(other.requests.isEmpty)
            }
        }
    }

    @Test("C4: a certificate that is not trusted is 77 before the first byte of a request")
    func certificates() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try await Certificate.make(in: folder)
            var configuration = TestServer.Configuration()
            configuration.certificate = (certificate.file, certificate.key)
            let other = try await Certificate.make(in: folder, name: "other")
            try await TestServer.running(configuration) { server in
                server.tree.put("/a", "x")
                // The system's authorities are those that `SSL_CERT_FILE` names.
                for (trust, code, systems) in [
                    ("{ trust: system }", 77, nil), ("{ trust: system }", 77, other.file),
                    ("{ trust: system }", 0, certificate.file),
                    ("{ fingerprint: \"\(other.fingerprint)\" }", 77, certificate.file),
                    ("{ ca: \"\(other.file)\" }", 77, certificate.file), ("{ ca: \"\(certificate.file)\" }", 0, nil),
                    ("{ fingerprint: \"\(certificate.fingerprint)\" }", 0, nil),
                ] as [(String, Int32, String?)] {
                    try await withTemporaryFolder { home in
                        server.forgetRequests()
                        var account = try Account(in: home, server, more: ["tls: \(trust)"])
                        if let systems { account.larder.environment["SSL_CERT_FILE"] = systems }
                        #expect(try await account.larder("pin", "/").exitCode == 0)
                        let result = try await account.larder("run", "--once")
                        #expect(result.exitCode == code, "\(trust) \(systems ?? "")\n\(result.summary)")
                        if code == 77 {
                            #expect(server.requests.isEmpty, "\(trust)")
                            #expect(result.errors.contains("certificate"), "\(result.summary)")
                        } else {
                            #expect(try account.text("a") == "x")
                        }
                    }
                }
            }
        }
    }
}
