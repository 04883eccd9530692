import TestServer
import TestSupport
import Testing

/// The ways to a server that a person names in the config: kinds of login, proxies, certificates of one's own.
@Suite(.serialized) struct AccessTests {
    @Test(
        "C10 C1: a server that wants Digest is mirrored, with the secret in no output", arguments: ["auto", "digest"])
    func digest(_ kind: String) async throws {
        try await withTemporaryFolder { folder in
            for number in 0..<30 { try Files.write("text \(number)", to: "\(folder)/data/Photos/\(number).txt") }
            var options = Account.withLogin
            options.login = .digest()
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                let account = try Account(
                    in: folder, url: server.url, user: Account.login.name, password: Account.login.password,
                    more: ["auth: \(kind)"])
                #expect(try await account.larder("pin", "/").exitCode == 0)
                let run = try await account.larder("--log-level", "trace", "run", "--once")
                #expect(run.exitCode == 0, "\(run.summary)")
                #expect(try await account.difference(from: "\(folder)/data") == "")
                // The status document is asked for without a login, and the root asks for one.
                let refused = try await server.requests().filter { $0.status == 401 }
                #expect(refused.count == 2, "\(refused)")
                for secret in [Account.login.password, "response=", "Digest username"] {
                    #expect(!(run.output + run.errors).contains(secret))
                }
                try Files.write("wrong\n", to: "\(folder)/password", mode: 0o600)
                try await server.forgetRequests()
                let wrong = try await account.larder("run", "--once")
                #expect(wrong.exitCode == 77 && wrong.errors.contains("check username, password"), "\(wrong.summary)")
                #expect(try await server.requests().count { $0.status == 401 } <= 3)
            }
        }
    }
}
