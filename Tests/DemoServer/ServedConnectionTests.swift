import DemoServer
import FoundationEssentials
import TestServer
import TestSupport
import Testing

/// What the server does with a connection, asked by hand.
@Suite struct ServedConnectionTests {
    /// Sends text to the server.
    /// - Returns: what comes until the server closes the connection, without its dates.
    private func ask(_ server: TestServer, _ text: String) async throws -> [String] {
        let script = "exec 3<>/dev/tcp/127.0.0.1/\(server.port); printf %s \"$0\" >&3; exec timeout 60 cat <&3"
        let result = try await run("bash", ["-c", script, text])
        #expect(result.exitCode == 0)
        return result.output.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
            .filter { !$0.hasPrefix("Date: ") }
    }

    private let end = "Connection: close\r\n\r\n"

    @Test("Requests that come together are answered one after the other, until one is the last")
    func pipelined() async throws {
        try await TestServer.running { server in
            let lines = try await ask(
                server,
                "GET /a HTTP/1.1\r\n\r\nPUT /b HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcHEAD /status.php HTTP/1.1\r\n"
                    + "Host: x\r\n\(end)GET /never HTTP/1.1\r\n\r\n")
            let answers = lines.filter { $0.hasPrefix("HTTP/") }
            #expect(answers == ["HTTP/1.1 404 Not Found", "HTTP/1.1 404 Not Found", "HTTP/1.1 200 OK"])
            #expect(lines.count { $0 == "Connection: close" } == 1)
            // The answer to HEAD tells a length and has no body.
            #expect(
                lines.suffix(2) == ["", ""]
                    && lines.contains { $0.hasPrefix("Content-Length: ") && !$0.hasSuffix(" 0") })
            #expect(server.requests.map(\.path) == ["/a", "/b", "/status.php"])
        }
    }

    @Test("A client of HTTP/1.0 gets no body in pieces, and its connection ends with the answer")
    func old() async throws {
        var configuration = TestServer.Configuration()
        configuration.manner.contentLength = false
        try await TestServer.running(configuration) { server in
            server.tree.put("/f", "twelve bytes")
            let login = "\(configuration.user):\(configuration.password)"
            let authorization = "Authorization: Basic \(Data(login.utf8).base64EncodedString())\r\n"
            let path = server.folderURL.dropFirst(server.url.count) + "f"
            for (version, body) in [("HTTP/1.0", ["twelve bytes"]), ("HTTP/1.1", ["c", "twelve bytes", "0", "", ""])] {
                let lines = try await ask(
                    server, "GET \(path) \(version)\r\n\(authorization)\(version == "HTTP/1.1" ? end : "\r\n")")
                let head = lines.prefix { !$0.isEmpty }
                #expect(head.first == "HTTP/1.1 200 OK" && Array(lines.dropFirst(head.count + 1)) == body, "\(lines)")
                #expect(head.contains("Transfer-Encoding: chunked") == (version == "HTTP/1.1"))
            }
            let kept = try await ask(server, "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n")
            #expect(kept.count { $0.hasPrefix("HTTP/") } == 2)
        }
    }

    @Test("What is no request is refused, and ends its connection")
    func nonsense() async throws {
        try await TestServer.running { server in
            for text in ["hello\r\n\r\n", "GET / HTTP/2\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n"] {
                let lines = try await ask(server, text + "GET /status.php HTTP/1.1\r\n\r\n")
                #expect(lines.filter { $0.hasPrefix("HTTP/") } == ["HTTP/1.1 400 Bad Request"], "\(text)")
            }
            #expect(server.requests.isEmpty)
            while !server.isLeft { try await Task.sleep(for: .milliseconds(10)) }
        }
    }

    @Test("What a fault stops is stopped, also where the answer has no body")
    func bodiless() async throws {
        try await TestServer.running { server in
            server.tree.put("/f", "1")
            let path = server.folderURL.dropFirst(server.url.count) + "f"
            let configuration = server.configuration
            let login = Data("\(configuration.user):\(configuration.password)".utf8).base64EncodedString()
            let fault = server.add(Fault(.hold(afterBytes: 0), method: "DELETE"))
            async let lines = ask(server, "DELETE \(path) HTTP/1.1\r\nAuthorization: Basic \(login)\r\n\(end)")
            await server.untilHeld(fault)
            #expect(server.requests.isEmpty)
            server.remove(fault)
            let answer = try await lines
            #expect(answer.first == "HTTP/1.1 204 No Content")
            #expect(server.count("DELETE") == 1)
        }
    }

    @Test("Over TLS both directions go on at once, and a body that nobody reads is taken to its end")
    func relay() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try await Certificate.make(in: folder)
            var configuration = TestServer.Configuration()
            configuration.certificate = (certificate.file, certificate.key)
            try await TestServer.running(configuration) { server in
                // The server reads nothing of the body before all of its answer is sent.
                let file = "\(folder)/large"
                try Files.write(Array(repeating: 7, count: 30_000_000), to: file)
                let fault = server.add(Fault(.endless(200), method: "PUT", times: 1))
                let got = try await run(
                    "bash",
                    [
                        "-c", "curl -sk -T \"$0\" -H Expect: \"$1\" | head -c 20000000 | wc -c", file,
                        "\(server.url)/large",
                    ])
                #expect(got.output.contains("20000000"))
                server.remove(fault)
                let early = try await run(
                    "curl",
                    [
                        "-sk", "-T", file, "-H", "Expect:", "-o", "/dev/null", "-w", "%{http_code} %{size_upload}",
                        "\(server.url)/no",
                    ])
                #expect(early.output.hasPrefix("404"), "\(early)")
            }
        }
    }

    @Test("A port that another server has is refused in words")
    func taken() async throws {
        try await TestServer.running { server in
            var configuration = TestServer.Configuration()
            configuration.port = server.port
            await #expect { try await TestServer.start(configuration) } throws: { "\($0)".contains("in use") }
        }
    }
}
