import TestSupport
import Testing

/// The servers that other tests rely on. They start, answer and stop.
@Suite struct RealServersTests {
    @Test("a real server serves its folder and is gone when its scope ends", arguments: RealServer.Program.allCases)
    func serves(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            try Files.write("hello", to: "\(folder)/data dir/a b.txt")
            let port = try await withServer(program, data: "\(folder)/data dir") { server in
                let answer = try await mustRun("curl", ["-sS", "\(server.url)a%20b.txt"])
                #expect(answer == "hello")
                return server.port
            }
            // The system may have given the port to a server of another test, and a child process may have the socket
            // for a moment.
            #expect(await until { !LoopbackPort.isOpen(port) })
        }
    }

    @Test("Apache asks for the password, and its log tells what was asked for")
    func apacheLog() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("0123456789", to: "\(folder)/data/ä.txt")
            var options = RealServer.Options()
            options.user = ("ada", "secret")
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                let file = "\(server.url)%C3%A4.txt"
                let refused = try await mustRun("curl", ["-sS", "-o", "/dev/null", "-w", "%{http_code}", file])
                #expect(refused == "401")
                try await server.forgetRequests()
                let part = try await mustRun("curl", ["-sS", "-u", "ada:secret", "-r", "2-4", file])
                #expect(part == "234")
                let log = try await server.requests()
                #expect(log.count == 1)
                #expect(log.first?.method == "GET")
                #expect(log.first?.path == "/ä.txt")
                #expect(log.first?.status == 206)
                #expect(log.first?.bytes == 3)
                #expect(log.first?.range == "bytes=2-4")
            }
        }
    }

    @Test("Apache speaks TLS with a certificate of the test's own")
    func apacheTLS() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("x", to: "\(folder)/data/x")
            var options = RealServer.Options()
            let certificate = try await Certificate.make(in: folder)
            options.certificate = certificate
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                let answer = try await mustRun("curl", ["-sS", "--cacert", certificate.file, "\(server.url)x"])
                #expect(answer == "x")
            }
        }
    }
}
