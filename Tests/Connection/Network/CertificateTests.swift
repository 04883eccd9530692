import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Tests that the connection checks a server's certificate before it sends the first byte of a request.
struct CertificateTests {
    private func bytes(_ fingerprint: String) throws -> [UInt8] {
        try #require([UInt8](hexadecimal: fingerprint.utf8.filter { $0 != UInt8(ascii: ":") }))
    }

    /// Returns what an account with this trust receives from a TLS server with this certificate, and how many requests
    /// the server received.
    private func outcome(
        _ certificate: Certificate, _ trust: Bookmark.Trust
    ) async throws -> (result: Result<ServerFacts, ConnectionError>, requests: Int) {
        var configuration = TestServer.Configuration()
        configuration.certificate = (certificate.file, certificate.key)
        return try await TestServer.running(configuration) { server in
            let connection = Connection(
                bookmark: .at(server.url, username: server.configuration.user, trust: trust),
                credentials: .basic(username: server.configuration.user, password: server.configuration.password),
                logger: Logger(label: "test"))
            return try await closing(connection) {
                do throws(ConnectionError) {
                    let facts = try await connection.connect()
                    return (.success(facts), server.requests.count)
                } catch {
                    return (.failure(error), server.requests.count)
                }
            }
        }
    }

    @Test("C4: a certificate that the system does not know is refused, with what to do; nothing is sent")
    func system() async throws {
        try await withTemporaryFolder { folder in
            let (result, requests) = try await outcome(Certificate.make(in: folder), .system)
            guard case .failure(let error) = result else {
                Issue.record("it was trusted")
                return
            }
            #expect(error.kind == .certificate && error.failure.kind == .denied && requests == 0)
            #expect(error.hint?.description.contains("fingerprint") == true)
        }
    }

    @Test("C4: a file of authorities lets its own certificates in, and no others")
    func authorities() async throws {
        try await withTemporaryFolder { folder in
            let right = try await Certificate.make(in: folder)
            let wrong = try await Certificate.make(in: folder, name: "other")
            let (trusted, _) = try await outcome(right, .authorities(file: right.file))
            #expect(try trusted.get().hasFiles)
            let (refused, requests) = try await outcome(right, .authorities(file: wrong.file))
            #expect(throws: ConnectionError.self) { try refused.get() }
            #expect(requests == 0)
            let (missing, _) = try await outcome(right, .authorities(file: "\(folder)/none.pem"))
            let error = #expect(throws: ConnectionError.self) { try missing.get() }
            #expect(error?.failure.kind == .config)
        }
    }

    @Test("C4: a server's own certificate in place of an authority's is refused with the fingerprint to write instead")
    func ownCertificate() async throws {
        try await withTemporaryFolder { folder in
            let authority = try await Certificate.make(in: folder, name: "authority")
            let right = try await Certificate.make(in: folder, signedBy: authority)
            let (refused, requests) = try await outcome(right, .authorities(file: right.file))
            let error = #expect(throws: ConnectionError.self) { try refused.get() }
            #expect(error?.kind == .certificate && requests == 0)
            #expect(
                error?.hint?.description.contains("tls: { fingerprint: \(right.fingerprint) }") == true,
                "\(error?.hint?.description ?? "")")
            // The fingerprint that the hint names is accepted, and so is the authority.
            #expect(try await outcome(right, .fingerprint(try bytes(right.fingerprint))).result.get().hasFiles)
            #expect(try await outcome(right, .authorities(file: authority.file)).result.get().hasFiles)
        }
    }

    @Test("C4: a server's own certificate that signs itself and may sign no other is taken as the file of authorities")
    func ownSelfSigned() async throws {
        try await withTemporaryFolder { folder in
            let right = try await Certificate.make(in: folder, mayNotSign: true)
            let other = try await Certificate.make(in: folder, name: "other", mayNotSign: true)
            #expect(try await outcome(right, .authorities(file: right.file)).result.get().hasFiles)
            let (refused, requests) = try await outcome(right, .authorities(file: other.file))
            let error = #expect(throws: ConnectionError.self) { try refused.get() }
            #expect(error?.kind == .certificate && requests == 0)
        }
    }

    @Test("C4: http:// where TLS is spoken, and https:// where it is not, say so")
    func otherScheme() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try await Certificate.make(in: folder)
            try Files.makeFolder("\(folder)/data")
            func error(_ url: String) async throws -> ConnectionError? {
                let connection = Connection(
                    bookmark: .at(url), credentials: .none, logger: Logger(label: "test"))
                return try await closing(connection) {
                    await #expect(throws: ConnectionError.self) { _ = try await connection.connect() }
                }
            }
            // Apache answers with a page that names the error.
            try await withTLSApache(folder, certificate, "http/1.1") { url, _ in
                let error = try await error("http" + url.dropFirst("https".count))
                #expect(error?.hint?.description.contains("write https://") == true, "\(String(describing: error))")
            }
            // The server answers with an alert or closes the connection.
            var configuration = TestServer.Configuration()
            configuration.certificate = (certificate.file, certificate.key)
            try await TestServer.running(configuration) { server in
                let error = try await error("http" + server.url.dropFirst("https".count))
                #expect(error?.hint?.description.contains("write https://") == true, "\(String(describing: error))")
            }
            try await TestServer.running { server in
                let error = try await error("https" + server.url.dropFirst("http".count))
                #expect(error?.message.contains("does not speak TLS at this port") == true)
                #expect(error?.hint?.description.contains("http://") == true, "\(String(describing: error))")
            }
        }
    }

    @Test("C4: a fingerprint lets one certificate in whoever signed it; another is refused, named, and gets nothing")
    func fingerprint() async throws {
        try await withTemporaryFolder { folder in
            let right = try await Certificate.make(in: folder)
            let other = try await Certificate.make(in: folder, name: "other")
            let (trusted, _) = try await outcome(right, .fingerprint(try bytes(right.fingerprint)))
            #expect(try trusted.get().hasFiles)
            let (refused, requests) = try await outcome(right, .fingerprint(try bytes(other.fingerprint)))
            let error = #expect(throws: ConnectionError.self) { try refused.get() }
            #expect(error?.kind == .certificate && error?.message.contains(right.fingerprint) == true && requests == 0)
        }
    }

    @Test(
        "C4: every connection is checked, and none is shared, also where the server offers HTTP/2",
        arguments: ["http/1.1", "h2"])
    func everyConnection(_ version: String) async throws {
        try await withTemporaryFolder { folder in
            let right = try await Certificate.make(in: folder)
            let other = try await Certificate.make(in: folder, name: "other")
            try Files.makeFolder("\(folder)/data")
            for number in 0..<20 { try Files.write("\(number)", to: "\(folder)/data/f\(number)") }
            try await withTLSApache(folder, right, version) { url, log in
                func connection(_ certificate: Certificate) throws -> Connection {
                    Connection(
                        bookmark: .at(url, trust: .fingerprint(try bytes(certificate.fingerprint))), credentials: .none,
                        limits: Limits(connections: 8), logger: Logger(label: "test"))
                }
                let trusted = try connection(right)
                try await closing(trusted) {
                    _ = try await trusted.connect()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<20 {
                            group.addTask {
                                let sink = MemorySink()
                                _ = try await trusted.downloads.get(path("/f\(number)"), into: sink)
                                #expect(sink.bytes == Array("\(number)".utf8))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                let seen = try log()
                #expect(seen.count == 22 && seen.allSatisfy { $0.hasSuffix(" HTTP/1.1") })

                let refused = try connection(other)
                try await closing(refused) {
                    for _ in 0..<3 {
                        let error = await #expect(throws: ConnectionError.self) { try await refused.connect() }
                        #expect(error?.kind == .certificate)
                    }
                }
                let after = try log()
                #expect(after.count == 22)
            }
        }
    }

    @Test("tls on an address without TLS is a config error")
    func plainAddress() async throws {
        let connection = Connection(
            bookmark: .at("http://127.0.0.1/", trust: .fingerprint(Array(repeating: 0, count: 32))), credentials: .none,
            logger: Logger(label: "test"))
        try await closing(connection) {
            let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
            #expect(error?.failure.kind == .config)
        }
    }

    /// Runs Apache over TLS with one version of HTTP.
    /// - Parameter body: A function that gets the server's address and a function that returns a line `METHOD VERSION`
    ///   for each logged request.
    private func withTLSApache(
        _ folder: String, _ certificate: Certificate, _ version: String,
        _ body: (_ url: String, _ log: () throws -> [String]) async throws -> Void
    ) async throws {
        let modules = [
            "mpm_event", "authn_core", "authz_core", "mime", "dav", "dav_fs", "ssl", "http2",
        ].map { "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so" }
        let port = try LoopbackPort.free()
        try Files.makeFolder("\(folder)/run")
        try Files.write(
            """
            ServerRoot "\(folder)/run"
            ServerName 127.0.0.1
            Listen 127.0.0.1:\(port)
            PidFile "\(folder)/run/pid"
            DefaultRuntimeDir "\(folder)/run"
            Mutex pthread default
            \(Build.isRoot ? "User www-data\nGroup www-data" : "")
            \(modules.joined(separator: "\n"))
            TypesConfig /etc/mime.types
            ErrorLog "\(folder)/run/server.log"
            LogFormat "%m %H" requests
            CustomLog "\(folder)/run/access.log" requests
            DavLockDB "\(folder)/run/locks"
            DocumentRoot "\(folder)/data"
            Protocols \(version == "h2" ? "h2 http/1.1" : version)
            SSLEngine on
            SSLCertificateFile "\(certificate.file)"
            SSLCertificateKeyFile "\(certificate.key)"
            <Directory "\(folder)/data">
              Dav On
              Require all granted
            </Directory>

            """, to: "\(folder)/run/apache.conf")
        let child = try ChildProcess(
            "/usr/sbin/apache2", ["-f", "\(folder)/run/apache.conf", "-DFOREGROUND"],
            output: "\(folder)/run/server.log",
            errors: "\(folder)/run/server.log")
        await until { LoopbackPort.isOpen(port) || child.hasEnded }
        do {
            try await body("https://127.0.0.1:\(port)/") {
                try Files.text("\(folder)/run/access.log").split(separator: "\n").map(String.init)
            }
            await child.stop()
        } catch {
            await child.stop()
            throw error
        }
    }
}
