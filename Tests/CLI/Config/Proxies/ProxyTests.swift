import Core
import Model
import Testing

@testable import larder

@Suite struct ProxyTests {
    private func decode(
        _ proxy: String, url: String = "https://cloud.example.org", _ environment: [String: String] = [:]
    )
        throws(Failure) -> (account: AccountConfig, shown: [String])
    {
        let config = try Config.decode(
            "accounts: [{ name: home, url: '\(url)', vault: /v\(proxy.isEmpty ? "" : ", proxy: ")\(proxy) }]",
            file: "/etc/larder/config.yaml", environment: environment)
        let shown = config.shown.filter { $0.key.contains(".proxy") }.map { "\($0.key) \($0.value.text) \($0.source)" }
        return (config.accounts[0], shown)
    }

    @Test("C11: a proxy is an address of HTTP or SOCKS5, or none")
    func addresses() throws {
        let right: [(String, Proxy)] = [
            ("http://proxy.example:3128", Proxy(.http, host: "proxy.example", port: 3128)),
            ("Proxy.Example:8080/", Proxy(.http, host: "proxy.example", port: 8080)),
            ("http://[::1]:3128", Proxy(.http, host: "::1", port: 3128)),
            ("socks5://127.0.0.1:9050", Proxy(.socks5, host: "127.0.0.1", port: 9050)),
            ("SOCKS5H://tor", Proxy(.socks5, host: "tor", port: 1080)),
        ]
        for (text, proxy) in right { #expect(try decode("'\(text)'").account.bookmark.proxy == proxy, "\(text)") }
        #expect(Proxy(.http, host: "::1", port: 3128).description == "http://[::1]:3128")
        let none = try decode("none", ["https_proxy": "http://p:1"])
        #expect(none.account.bookmark.proxy == nil && none.shown.first?.contains("\"none\" /etc") == true)
    }

    @Test("C11 C1: what is no proxy, or cannot be one, is told with its place and without its password")
    func wrongAddresses() {
        let wrong = [
            ("'https://p:3128'", "https:// proxies cannot be used; write http://HOST:PORT"),
            ("socks4://p", "socks4:// proxies cannot be used"), ("http://p", "no port from 1 to 65535"),
            ("'http://p:70000'", "no port from 1 to 65535"), ("'http://:80'", "it has no host"),
            ("'http://a b:80'", "it has no host"),
            ("'http://ada:hunter2@p:3128'", "it must not contain a username or password; write { url: ADDRESS"),
            ("'socks5://ada:hunter2@p'", "a SOCKS5 proxy with a username and a password is not supported"),
            ("'http://ada:hunter2%@p:3128'", "a `%` that encodes nothing"), ("[a]", "must be a single text"),
            ("{ username: ada, password: { env: P } }", "`accounts.home.proxy.url` is missing"),
            ("{ url: 'http://p:1', username: ada }", "needs both `username` and `password`"),
            ("{ url: 'http://p:1', user: ada }", "there is no setting `accounts.home.proxy.user`"),
            ("{ url: 'socks5://p', username: ada, password: { env: P } }", "not supported; use an HTTP proxy"),
            ("{ url: 'http://p:1', username: ada, password: hunter2 }", "must not contain the secret itself"),
        ]
        for (proxy, message) in wrong {
            let error = #expect(throws: Failure.self) { try decode(proxy) }
            #expect(error?.kind == .config && error?.message.contains(message) == true, "\(error?.message ?? proxy)")
            #expect(error?.message.hasPrefix("/etc/larder/config.yaml:1:") == true)
            #expect(error?.message.contains("hunter2") == false)
        }
    }

    @Test("C11 C1: a proxy's login comes from the sources of a password, or from a variable, and is not shown")
    func logins() async throws {
        let folder = TemporaryFolder()
        try folder.write("hunter2\n", to: "secret", mode: 0o600)
        let login = ProxyLogin(username: "ada", password: "hunter2")
        let named = try decode("{ url: 'http://p:1', username: ada, password: { file: '\(folder.path)/secret' } }")
        #expect(try await named.account.readSecret().proxyLogin == login)
        #expect(named.shown.map { String($0.prefix { $0 != " " }) }.contains("accounts.home.proxy.password.file"))
        let given = try decode("", ["https_proxy": "http://ada:hunter2@p:1"])
        #expect(try await given.account.readSecret().proxyLogin == login)
        #expect(given.shown == [#"accounts.home.proxy "http://p:1" https_proxy"#])
        let encoded = try decode("", ["https_proxy": "http://a%40b:c%3Ad%25:e@p:1"])
        #expect(try await encoded.account.readSecret().proxyLogin == ProxyLogin(username: "a@b", password: "c:d%:e"))
        for text in [named, given].map({ "\($0) \(String(reflecting: $0.account))" }) {
            #expect(!text.contains("hunter2"))
        }
        let wrong = #expect(throws: Failure.self) { try decode("", ["https_proxy": "https://ada:hunter2@p:1"]) }
        #expect(wrong?.message.hasPrefix("https_proxy: `accounts.home.proxy`: https:// proxies") == true)
        #expect(wrong?.message.contains("hunter2") == false)
    }

    @Test(
        "C11: the usual variables name a proxy as for curl, with which HTTP_PROXY alone means nothing",
        arguments: [
            (["https_proxy": "a"], "a", nil), (["HTTPS_PROXY": "a"], "a", nil), (["http_proxy": "a"], nil, "a"),
            (["HTTP_PROXY": "a"], nil, nil), (["all_proxy": "a"], "a", "a"), (["ALL_PROXY": "a"], "a", "a"),
            (["https_proxy": "a", "HTTPS_PROXY": "b", "all_proxy": "c"], "a", "c"), (["https_proxy": ""], nil, nil),
            (["https_proxy": "", "all_proxy": "c"], "c", "c"), (["all_proxy": "c", "no_proxy": ""], "c", "c"),
        ] as [([String: String], String?, String?)])
    func variables(_ environment: [String: String], _ tls: String?, _ plain: String?) {
        let variables = ProxyVariables(environment: environment)
        #expect(variables.proxy(for: "https://h/x")?.value == tls)
        #expect(variables.proxy(for: "HTTP://h:8080")?.value == plain)
        // This machine is no exception, as for curl.
        #expect(variables.proxy(for: "http://localhost/")?.value == plain)
    }

    @Test(
        "C11: no_proxy has domains, addresses, networks, ports and a star",
        arguments: [
            ("*", "https://h", true), ("a, *", "https://h", true), ("example.org", "https://cloud.example.org", true),
            (".example.org", "https://example.org", true), ("example.org.", "https://EXAMPLE.org./x", true),
            ("example.org", "https://badexample.org", false), ("cloud.example.org", "https://example.org", false),
            ("a b,h", "https://h", true), ("h:8443", "https://h:8443", true), ("h:8443", "https://h", false),
            ("h:443", "https://h/", true), ("h:80", "http://h", true), ("10.1.2.3", "http://10.1.2.3:81", true),
            ("10.0.0.0/8", "http://10.200.0.1", true), ("10.0.0.0/8", "http://11.0.0.1", false),
            ("10.0.0.128/25", "http://10.0.0.129", true), ("10.0.0.128/25", "http://10.0.0.127", false),
            ("10.0.0.0/40", "http://10.0.0.0", false), ("10.0.0.0/8:81", "http://10.0.0.1:81", true),
            ("::1", "http://[::1]:80", true), ("[::1]:81", "http://[::1]:81", true), ("[::1]", "http://[::1]", true),
            ("fd00::/8", "https://[fd12::3]/", true), ("fd00::/8", "https://[fe00::1]/", false),
            ("0.0.0.0/0", "https://[::1]", false), ("0.0.0.0/0", "https://h", false), ("10", "http://10.0.0.1", false),
            (".", "https://h", false),
        ])
    func exceptions(_ list: String, _ url: String, _ isExcepted: Bool) {
        for name in ["no_proxy", "NO_PROXY"] {
            let variables = ProxyVariables(environment: ["all_proxy": "p:1", name: list])
            #expect((variables.proxy(for: url) == nil) == isExcepted)
        }
    }
}
