import Logging
import Model
import TestSupport
import Testing

@testable import Connection

/// Tests of the account's own certificate, on Apache.
@Suite(.serialized) struct ClientCertificateTests {
    private func connection(
        _ url: String, _ authority: Certificate, _ client: Bookmark.ClientCertificate?, clock: HostClock = .system
    ) -> Connection {
        var bookmark = Bookmark.at(url, trust: .authorities(file: authority.file))
        bookmark.clientCertificate = client
        return Connection(bookmark: bookmark, credentials: .none, clock: clock, logger: Logger(label: "test"))
    }

    private func error(_ connection: Connection) async throws -> ConnectionError? {
        try await closing(connection) {
            await #expect(throws: ConnectionError.self) { try await connection.connect() }
        }
    }

    @Test(
        "C14: a server that asks for a certificate lets its owner in, and tells others what to do: 77",
        arguments: [false, true])
    func server(hasOldTLS: Bool) async throws {
        try await withTemporaryFolder { folder in
            let authority = try await Certificate.make(in: folder, name: "authority")
            let server = try await Certificate.make(in: folder, signedBy: authority)
            let own = try await Certificate.make(in: folder, name: "own", signedBy: authority)
            let stranger = try await Certificate.make(in: folder, name: "stranger", mayNotSign: true)
            for number in 0..<20 { try Files.write("text \(number)", to: "\(folder)/data/f\(number)") }
            var options = RealServer.Options()
            (options.certificate, options.clientAuthority) = (server, authority)
            options.hasOldTLS = hasOldTLS
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                let right = connection(server.url, authority, .init(certificate: own.file, key: own.key))
                try await closing(right) {
                    _ = try await right.connect()
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for number in 0..<20 {
                            group.addTask {
                                let sink = MemorySink()
                                _ = try await right.downloads.get(path("/f\(number)"), into: sink)
                                #expect(sink.bytes == Array("text \(number)".utf8))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                try await server.forgetRequests()
                for _ in 0..<10 {
                    let none = try await error(connection(server.url, authority, nil))
                    #expect(
                        none?.message.hasSuffix("asks for a certificate of the account's") == true,
                        "\(none?.message ?? "")")
                    #expect(
                        none?.failure.kind == .denied && none?.hint?.description.contains("certificate and key") == true
                    )
                    let other = Bookmark.ClientCertificate(certificate: stranger.file, key: stranger.key)
                    let refused = try await error(connection(server.url, authority, other))
                    #expect(
                        refused?.message.contains("refuses the certificate of the account: it ") == true,
                        "\(refused?.message ?? "")")
                    #expect(refused?.failure.kind == .denied)
                }
                let requests = try await server.requests()
                #expect(requests.allSatisfy { $0.status >= 400 })
            }
        }
    }

    @Test("C14: files that cannot be used are told before anything is sent: 77, with what to do")
    func files() async throws {
        try await withTemporaryFolder { folder in
            let own = try await Certificate.make(in: folder, name: "own")
            let other = try await Certificate.make(in: folder, name: "other")
            let locked = "\(folder)/locked.pem"
            try await mustRun(
                "openssl", ["pkey", "-in", own.key, "-aes256", "-passout", "pass:hunter2", "-out", locked])
            try Files.write("no certificate", to: "\(folder)/text")
            let wrong = [
                ("\(folder)/none", own.key, "cannot be read as PEM"),
                ("\(folder)/text", own.key, "cannot be read as PEM"),
                (own.file, "\(folder)/none", "cannot be read as PEM"), (own.file, own.file, "cannot be read as PEM"),
                (own.file, other.key, "does not belong to the client certificate"),
                (own.file, locked, "has a passphrase, which Larder does not take"),
            ]
            for (certificate, key, message) in wrong {
                let error = try await error(
                    connection("https://127.0.0.1:1/", own, .init(certificate: certificate, key: key)))
                #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
                #expect(error?.kind == .certificate && error?.failure.kind == .denied && error?.hint != nil)
            }
            // The certificate is good for three days from now.
            for (seconds, message) in [(9_000_000_000, "has expired"), (0, "is not valid yet")] as [(Int64, String)] {
                let clock = HostClock(
                    now: { Timestamp(seconds: seconds) }, monotonic: { .zero },
                    sleep: { _ in })
                let error = try await error(
                    connection("https://127.0.0.1:1/", own, .init(certificate: own.file, key: own.key), clock: clock))
                #expect(error?.message.contains(message) == true && error?.failure.kind == .denied)
            }
            let plain = try await error(
                connection("http://127.0.0.1:1/", own, .init(certificate: own.file, key: own.key)))
            #expect(plain?.failure.kind == .config)
        }
    }
}
