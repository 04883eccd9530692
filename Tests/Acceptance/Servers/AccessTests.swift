import DemoServer
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

    @Test("C11 C1: a proxy from the config or from a variable is used, with its login in no output")
    func proxy() async throws {
        let login = (name: "eve", password: "proxy-secret")
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/a", "text")
                try await withProxy(.http, login: login, connectPort: 443) { proxy in
                    let url = "http://127.0.0.1:\(proxy.port)"
                    try Files.write(login.password, to: "\(folder)/proxy-password", mode: 0o600)
                    let named = """
                        proxy: { url: "\(url)", username: \(login.name), \
                        password: { file: "\(folder)/proxy-password" } }
                        """
                    var account = try Account(in: folder, server, more: [named])
                    #expect(try await account.larder("pin", "/").exitCode == 0)
                    let run = try await account.larder("--log-level", "trace", "run", "--once")
                    #expect(run.exitCode == 0, "\(run.summary)")
                    #expect(try account.text("a") == "text")
                    #expect(try await proxy.log().contains("PROPFIND http://127.0.0.1:"))

                    try Files.write("wrong-secret", to: "\(folder)/proxy-password", mode: 0o600)
                    let wrong = try await account.larder("--log-level", "trace", "run", "--once")
                    #expect(wrong.exitCode != 0 && wrong.errors.contains("the proxy \(url)"), "\(wrong.summary)")
                    let status = try await account.larder("--json", "status")
                    account = try Account(in: folder, server)
                    account.larder.environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)"]
                    let without = try await account.larder("run", "--once")
                    #expect(without.exitCode == 77, "\(without.summary)")
                    #expect(without.errors.contains("the proxy \(url) asks for a username and a password"))
                    let given = "http://\(login.name):\(login.password)@127.0.0.1:\(proxy.port)"
                    account.larder.environment = ["http_proxy": given]
                    let shown = try await account.larder("config", "show")
                    #expect(shown.output.contains(url) && shown.output.contains("http_proxy"), "\(shown.summary)")
                    let last = try await account.larder("--log-level", "trace", "run", "--once")
                    #expect(last.exitCode == 0, "\(last.summary)")
                    // The variables are the config's alone: the network's library does not read them.
                    account = try Account(in: folder, server, more: ["proxy: none"])
                    let nowhere = "http://127.0.0.1:1"
                    account.larder.environment = ["http_proxy": nowhere, "all_proxy": nowhere, "ALL_PROXY": nowhere]
                    let direct = try await account.larder("run", "--once")
                    #expect(direct.exitCode == 0, "\(direct.summary)")
                    for result in [run, wrong, status, without, shown, last] {
                        for secret in [login.password, "wrong-secret"] {
                            #expect(!(result.output + result.errors).contains(secret))
                        }
                    }
                }
            }
        }
    }

    @Test("C14: a certificate of the account's own lets it in; a wrong one is 77 with what to do")
    func clientCertificate() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await Certificate.make(in: folder, name: "authority")
            _ = try await Certificate.make(in: folder, name: "own", signedBy: authority)
            let other = try await Certificate.make(in: folder, name: "other", signedBy: authority)
            var options = Account.withLogin
            options.certificate = try await Certificate.make(in: folder, signedBy: authority)
            options.clientAuthority = authority
            try Files.write("text", to: "\(folder)/data/a")
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                func account(_ files: String) throws -> Account {
                    try Account(
                        in: folder, url: server.url, user: Account.login.name, password: Account.login.password,
                        more: ["tls: { ca: authority.pem\(files) }"])
                }
                let right = try account(", certificate: own.pem, key: own.key")
                #expect(try await right.larder("config", "validate").exitCode == 0)
                #expect(try await right.larder("pin", "/").exitCode == 0)
                let run = try await right.larder("run", "--once")
                #expect(run.exitCode == 0, "\(run.summary)")
                #expect(try right.text("a") == "text")
                for (files, message) in [
                    ("", "set certificate and key in tls"),
                    (", certificate: own.pem, key: other.key", "does not belong to the client certificate"),
                    (", certificate: none.pem, key: own.key", "cannot be read as PEM"),
                ] {
                    let result = try await account(files).larder("run", "--once")
                    #expect(result.exitCode == 77 && result.errors.contains(message), "\(files)\n\(result.summary)")
                }
                let wrong = try await account(", certificate: own.pem, key: \(other.key)").larder("config", "validate")
                #expect(wrong.exitCode == 78 && wrong.errors.contains("config.yaml:7:"), "\(wrong.summary)")
            }
        }
    }
}
