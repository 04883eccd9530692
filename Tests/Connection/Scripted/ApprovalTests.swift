import Logging
import Model
import TestServer
import TestSupport
import Testing
import Transfer

@testable import Connection

/// Tests of what a person has to approve before a server gets credentials.
struct ApprovalTests {
    private func server(_ version: String = "10.9.1", _ product: String = "ownCloud") -> ScriptedTransport {
        let status =
            #"{"installed":true,"maintenance":false,"version":"\#(version).2","versionstring":"\#(version)","#
            + #""productname":"\#(product)"}"#
        return ScriptedTransport { request, _ throws(TransportError) in
            request.address.path == "/status.php"
                ? .status(200, [:], status)
                : .status(207, ["Date": "Sat, 21 Nov 2026 10:12:00 GMT"], Document.multistatus([request.address.path]))
        }
    }

    /// Returns the error with which an account with these answers cannot connect; nil if it can.
    private func error(
        _ url: String, _ approvals: Approvals?, over transport: ScriptedTransport
    ) async -> ConnectionError? {
        let connection = Connection(url, over: transport)
        if let approvals { connection.heed(approvals) }
        do throws(ConnectionError) {
            _ = try await connection.connect()
            return nil
        } catch {
            return error
        }
    }

    private func sent(_ transport: ScriptedTransport) -> [String] {
        transport.requests.filter { if case .none = $0.authorization { false } else { true } }
            .map { "\($0.address.origin)" }
    }

    @Test(
        "C9: plain HTTP to another machine and an old version wait for an approval, and no credentials are sent",
        arguments: [
            ("http://h:81/dav", "10.9.1", "ownCloud", Approval(.plainHTTP, "http://h:81")),
            ("https://h/", "9.1.8", "ownCloud", Approval(.oldVersion, "https://h ownCloud 9")),
            ("https://h/", "19.0.13", "Nextcloud", Approval(.oldVersion, "https://h Nextcloud 19")),
        ])
    func asked(_ url: String, _ version: String, _ product: String, _ approval: Approval) async throws {
        let transport = server(version, product)
        let asked = await error(url, Approvals(), over: transport)
        #expect(asked?.kind == .unapproved && asked?.approval == approval && asked?.isRejected == false)
        #expect(asked?.failure.kind == .denied && sent(transport).isEmpty)
        var answers = Approvals()
        answers.answer(approval, approves: false)
        let rejected = await error(url, answers, over: transport)
        #expect(rejected?.approval == approval && rejected?.isRejected == true && sent(transport).isEmpty)
        answers.answer(approval, approves: true)
        #expect(await error(url, answers, over: transport) == nil && !sent(transport).isEmpty)
        // An account that worked before goes on.
        let facts = try KnownServer(product, version, of: url)
        #expect(await error(url, .ofWorking(.at(url), facts), over: transport) == nil)
    }

    @Test(
        "C9: this machine, a version that is supported and products that count otherwise are not asked about",
        arguments: [
            ("http://127.0.0.1:81/", "10.0.0", "ownCloud"), ("http://localhost/", "20.0.0", "Nextcloud"),
            ("http://[::1]/", "1.0.0", "OpenCloud"), ("https://h/", "5", "My Cloud"),
        ])
    func notAsked(_ url: String, _ version: String, _ product: String) async {
        #expect(await error(url, Approvals(), over: server(version, product)) == nil)
    }

    @Test("C9: a redirect of the account's folder to another server waits for an approval; then the account is there")
    func redirect() async throws {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            let path = request.address.path
            if request.address.origin.host == "old" { return .status(301, ["Location": "https://new/c\(path)"]) }
            return path == "/c/dav/" ? .status(207, [:], Document.multistatus([path])) : .status(404)
        }
        let asked = await error("https://old/dav", Approvals(), over: transport)
        let approval = Approval(.redirect, "https://old/ https://new/c/")
        #expect(asked?.approval == approval && transport.requests.allSatisfy { $0.address.origin.host == "old" })
        #expect(sent(transport).isEmpty)

        let connection = Connection("https://old/dav", over: transport)
        connection.heed(Approvals(approved: [approval]))
        #expect(try await connection.connect().root == "https://new/c/dav/")
        #expect(sent(transport) == ["https://new"])
        // The facts that were found still hold with the approval.
        let known = try #require(connection.known)
        #expect(try await connection.connect(knowing: known) { _ in .zero }.facts.root == "https://new/c/dav/")
    }

    @Test(
        "C9: a redirect to plain HTTP, or of a single page to another one, cannot be approved",
        arguments: [
            ("https://old/", "http://new/status.php"), ("http://localhost/", "https://login/page"),
            ("https://old/", "https://new/status.php/page"),
        ])
    func refused(_ url: String, _ location: String) async {
        let transport = ScriptedTransport { _, _ throws(TransportError) in .status(302, ["Location": location]) }
        let error = await error(url, Approvals(), over: transport)
        #expect(error?.kind == .redirectRefused && transport.requests.count == 1)
    }

    @Test("C9: a server whose redirect was approved may not be asked without TLS unless that is approved too")
    func redirectThenPlain() async {
        let transport = ScriptedTransport { request, _ throws(TransportError) in
            request.address.origin.host == "localhost"
                ? .status(301, ["Location": "http://new/status.php"]) : .status(404)
        }
        let answers = Approvals(approved: [Approval(.redirect, "http://localhost/ http://new/")])
        let asked = await error("http://localhost/", answers, over: transport)
        #expect(asked?.approval == Approval(.plainHTTP, "http://new") && sent(transport).isEmpty)
    }

    @Test("C4: a pinned key is approved once; renewal with the same key is silent; another key gets nothing")
    func pinned() async throws {
        try await withTemporaryFolder { folder in
            let first = try await Certificate.make(in: folder)
            let renewed = try await Certificate.make(in: folder, name: "renewed", key: first.key)
            let other = try await Certificate.make(in: folder, name: "other")
            #expect(first.fingerprint != renewed.fingerprint)
            var answers = Approvals()
            var keys: Set<String> = []
            for (certificate, isKnown) in [(first, false), (renewed, true), (other, false), (first, true)] {
                var configuration = TestServer.Configuration()
                configuration.certificate = (certificate.file, certificate.key)
                try await TestServer.running(configuration) { server in
                    let connection = Connection(
                        bookmark: .at(server.url, username: server.configuration.user, trust: .pinned),
                        credentials: .basic(
                            username: server.configuration.user, password: server.configuration.password),
                        logger: Logger(label: "test"))
                    try await closing(connection) {
                        // Each server has a port of its own; the key is the same.
                        answers = answers.moved(to: "\(try ServerAddress(server.url).origin)")
                        connection.heed(answers)
                        if !isKnown {
                            let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                            #expect(error?.kind == .unapproved && server.requests.isEmpty)
                            let approval = try #require(error?.approval)
                            #expect(keys.insert(try #require(connection.certificate?.key)).inserted)
                            #expect(
                                approval.kind == .key && connection.certificate?.fingerprint == certificate.fingerprint)
                            answers.answer(approval, approves: true)
                            connection.heed(answers)
                        }
                        #expect(try await connection.connect().hasFiles)
                    }
                }
            }
        }
    }

    @Test("C4: without any answer a pinned key is not trusted")
    func unanswered() async throws {
        try await withTemporaryFolder { folder in
            let certificate = try await Certificate.make(in: folder)
            var configuration = TestServer.Configuration()
            configuration.certificate = (certificate.file, certificate.key)
            try await TestServer.running(configuration) { server in
                let connection = Connection(
                    bookmark: .at(server.url, trust: .pinned), credentials: .none, logger: Logger(label: "test"))
                try await closing(connection) {
                    let error = await #expect(throws: ConnectionError.self) { try await connection.connect() }
                    #expect(error?.kind == .unapproved && server.requests.isEmpty)
                }
            }
        }
    }
}

extension KnownServer {
    fileprivate init(_ product: String, _ version: String, of url: String) throws {
        let root = ListedItem(path: .root, kind: .folder)
        self.init(
            ServerFacts(
                root: url, product: product, version: version, hasFileIDs: false, hasFiles: true, rootItem: root),
            of: .at(url), at: .now())
    }
}

extension Approvals {
    /// The same answers about a server at another address.
    fileprivate func moved(to origin: String) -> Approvals {
        Approvals(
            approved: approved.map { Approval($0.kind, "\(origin) \($0.subject.split(separator: " ").last ?? "")") })
    }
}
