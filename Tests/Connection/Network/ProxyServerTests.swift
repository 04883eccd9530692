import DemoServer
import Logging
import Model
import TestServer
import TestSupport
import Testing

@testable import Connection

/// Tests of proxies of other projects: tinyproxy for HTTP, microsocks for SOCKS5.
@Suite(.serialized) struct ProxyServerTests {
    private static let login = (name: "eve", password: "proxy-secret")

    /// Runs a server, over TLS or not, with 20 files, and a connection to it through a proxy.
    private func running(
        isTLS: Bool = false, _ proxy: Proxy, _ login: ProxyLogin? = nil,
        _ body: (TestServer, Connection) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            var configuration = TestServer.Configuration()
            var trust = Bookmark.Trust.system
            if isTLS {
                let certificate = try await Certificate.make(in: folder)
                configuration.certificate = (certificate.file, certificate.key)
                trust = .authorities(file: certificate.file)
            }
            try await TestServer.running(configuration) { server in
                for number in 0..<20 { server.tree.put("/f\(number)", "text \(number)") }
                var bookmark = Bookmark.at(server.url, username: server.configuration.user, trust: trust)
                bookmark.proxy = proxy
                let connection = Connection(
                    bookmark: bookmark,
                    credentials: .password(
                        username: server.configuration.user, password: server.configuration.password),
                    proxyLogin: login, logger: Logger(label: "test"))
                try await closing(connection) { try await body(server, connection) }
            }
        }
    }

    private func fetchAll(_ connection: Connection) async throws {
        _ = try await connection.connect()
        #expect(try await connection.entries(of: .root).entries.count == 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let sink = MemorySink()
                    _ = try await connection.downloads.get(path("/f\(number)"), into: sink)
                    #expect(sink.bytes == Array("text \(number)".utf8))
                }
            }
            try await group.waitForAll()
        }
    }

    private func error(_ connection: Connection) async -> ConnectionError? {
        await #expect(throws: ConnectionError.self) { try await connection.connect() }
    }

    private func http(_ proxy: ProxyServer) -> Proxy { Proxy(.http, host: "127.0.0.1", port: Int(proxy.port)) }
    private func socks(_ proxy: ProxyServer) -> Proxy { Proxy(.socks5, host: "127.0.0.1", port: Int(proxy.port)) }

    @Test("C11: files come through an HTTP proxy: by CONNECT with TLS, else without it", arguments: [true, false])
    func overHTTP(isTLS: Bool) async throws {
        // Most proxies allow CONNECT to the ports of TLS alone.
        try await withProxy(.http, login: Self.login, connectPort: isTLS ? nil : 443) { proxy in
            let login = ProxyLogin(username: Self.login.name, password: Self.login.password)
            try await running(isTLS: isTLS, http(proxy), login) { server, connection in
                try await fetchAll(connection)
                let requests = try await proxy.log().split(separator: "\n").filter { $0.contains("Request (") }
                let port = server.url.split(separator: ":")[2].prefix { $0 != "/" }
                let expected = isTLS ? "CONNECT 127.0.0.1:\(port) " : " http://127.0.0.1:\(port)/"
                #expect(!requests.isEmpty && requests.allSatisfy { $0.contains(expected) }, "\(requests)")
                // The server is not told what the proxy asked for.
                #expect(server.requests.count >= 23)
            }
        }
    }

    @Test("C11: files come through a SOCKS5 proxy, with TLS and without", arguments: [true, false])
    func overSOCKS(isTLS: Bool) async throws {
        try await withProxy(.socks5) { proxy in
            try await running(isTLS: isTLS, socks(proxy)) { _, connection in
                try await fetchAll(connection)
                #expect(try await proxy.log().contains("127.0.0.1"))
            }
        }
    }

    @Test("C11: a proxy that is not there, or is none, is an error that names it", arguments: [true, false])
    func unreachable(isTLS: Bool) async throws {
        let port = Int(try LoopbackPort.free())
        for kind in [Proxy.Kind.http, .socks5] {
            try await running(isTLS: isTLS, Proxy(kind, host: "127.0.0.1", port: port)) { server, connection in
                let error = await error(connection)
                let name = kind == .http ? "http://127.0.0.1:\(port)" : "socks5://127.0.0.1:\(port)"
                #expect(error?.message == "cannot connect to the proxy \(name): connection refused")
                #expect(error?.failure.kind == .unreachable && server.requests.isEmpty)
                #expect(error?.hint?.description.contains("https_proxy") == true)
            }
        }
        try await withProxy(.socks5) { proxy in
            try await running(isTLS: isTLS, http(proxy)) { _, connection in
                let error = await error(connection)
                #expect(error?.message.hasSuffix("asked through the proxy http://127.0.0.1:\(proxy.port)") == true)
            }
        }
        try await TestServer.running { other in
            let port = try #require(other.url.split(separator: ":").last.flatMap { Int($0.prefix { $0 != "/" }) })
            try await running(isTLS: isTLS, Proxy(.socks5, host: "127.0.0.1", port: port)) { _, connection in
                let error = await error(connection)
                #expect(error?.message.hasSuffix("proxy socks5://127.0.0.1:\(port): it does not speak SOCKS5") == true)
            }
        }
    }

    @Test("C11: a 407 in place of the server's answer is the proxy's, whether it got a login or not")
    func values() throws {
        var bookmark = Bookmark.at("http://h/")
        bookmark.proxy = Proxy(.http, host: "p", port: 1)
        let login = ProxyLogin(username: "ada", password: "hunter2")
        let origin = try ServerAddress(bookmark.url).origin
        for (login, message) in [(nil, "asks for a username"), (login, "does not accept its username and password")] {
            let problem = try #require(ProxyRoute(bookmark, login).problem(with: 407))
            let error = ConnectionError(problem, doing: "listing /", at: origin)
            #expect(error.message.hasPrefix("the proxy http://p:1 \(message)") && error.failure.kind == .denied)
        }
        #expect(ProxyRoute(bookmark, login).problem(with: 200) == nil)
        bookmark.proxy = nil
        #expect(ProxyRoute(bookmark, nil).problem(with: 407) == nil)
    }

    @Test(
        "C11 C1: a proxy that wants a login, or rejects it, says so: 77; the login is in no error",
        arguments: [true, false])
    func wantsLogin(isTLS: Bool) async throws {
        let wrong = ProxyLogin(username: Self.login.name, password: "wrong-secret")
        try await withProxy(.http, login: Self.login) { proxy in
            try await running(isTLS: isTLS, http(proxy)) { server, connection in
                let error = await error(connection)
                #expect(error?.message.contains("the proxy http://127.0.0.1:\(proxy.port) asks for a username") == true)
                #expect(error?.failure.kind == .denied && server.requests.isEmpty)
                // A new login is used from the next request on.
                let credentials = Credentials.password(
                    username: server.configuration.user, password: server.configuration.password)
                connection.use(credentials, proxyLogin: .init(username: Self.login.name, password: Self.login.password))
                try await fetchAll(connection)
            }
            // tinyproxy does not ask again after a wrong login: it refuses, or answers 401 itself.
            try await running(isTLS: isTLS, http(proxy), wrong) { server, connection in
                let error = await error(connection)
                #expect(error?.message.contains("the proxy http://127.0.0.1:\(proxy.port)") == true)
                #expect(error?.description.contains("wrong-secret") == false && server.requests.isEmpty)
            }
        }
        try await withProxy(.socks5, login: Self.login) { proxy in
            try await running(isTLS: isTLS, socks(proxy)) { _, connection in
                let error = await error(connection)
                #expect(error?.message.contains("asks for a username and a password") == true)
                #expect(error?.failure.kind == .denied)
            }
            let right = ProxyLogin(username: Self.login.name, password: Self.login.password)
            try await running(isTLS: isTLS, socks(proxy), right) { _, connection in try await fetchAll(connection) }
            try await running(isTLS: isTLS, socks(proxy), wrong) { server, connection in
                let error = await error(connection)
                let name = "the proxy socks5://127.0.0.1:\(proxy.port)"
                #expect(
                    error?.message.contains("\(name) does not accept its username and password") == true,
                    "\(error?.message ?? "")")
                #expect(error?.failure.kind == .denied && server.requests.isEmpty)
                #expect(error?.description.contains("wrong-secret") == false)
            }
        }
    }

    @Test("C11: a proxy that refuses, or cannot reach the server, is named beside the server")
    func refuses() async throws {
        try await withProxy(.http, connectPort: 443) { proxy in
            try await running(isTLS: true, http(proxy)) { server, connection in
                let error = await error(connection)
                let origin = server.url.dropLast(server.url.hasSuffix("/") ? 1 : 0)
                #expect(error?.message == "the proxy http://127.0.0.1:\(proxy.port) does not connect to \(origin)")
                #expect(error?.failure.kind == .unreachable)
            }
            try await running(http(proxy)) { server, connection in
                await server.stop()
                let error = await error(connection)
                #expect(error?.message.hasSuffix(", asked through the proxy http://127.0.0.1:\(proxy.port)") == true)
                #expect(error?.isTransient == true)
            }
        }
        try await withProxy(.socks5) { proxy in
            try await running(socks(proxy)) { server, connection in
                await server.stop()
                let error = await error(connection)
                #expect(error?.message.hasPrefix("the proxy socks5://127.0.0.1:\(proxy.port) does not connect") == true)
            }
        }
    }

    @Test("C10 C11: Digest works through a proxy that gets whole addresses")
    func digest() async throws {
        try await withTemporaryFolder { folder in
            try Files.write("x", to: "\(folder)/data/a")
            var options = RealServer.Options()
            (options.user, options.login) = (Self.login, .digest())
            try await withServer(.apache, data: "\(folder)/data", options: options) { server in
                try await withProxy(.http, connectPort: 443) { proxy in
                    var bookmark = Bookmark.at(server.url)
                    bookmark.proxy = http(proxy)
                    let connection = Connection(
                        bookmark: bookmark,
                        credentials: .password(username: Self.login.name, password: Self.login.password),
                        logger: Logger(label: "test"))
                    try await closing(connection) {
                        _ = try await connection.connect()
                        #expect(try await connection.entries(of: .root).entries.count == 1)
                    }
                }
            }
        }
    }
}
