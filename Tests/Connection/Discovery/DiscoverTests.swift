import Logging
import Model
import Synchronization
import TestSupport
import Testing
import Transfer

@testable import Connection

private let principalProperty = "current-user-principal xmlns=\"DAV:\""

extension DAVService {
    /// The element of the homes, with the prefix `C`.
    fileprivate var homeElement: String { self == .caldav ? "C:calendar-home-set" : "C:addressbook-home-set" }
}

/// Returns the answer with which a server describes one path.
private func told(
    principal: String? = nil, homes: [String] = [], of service: DAVService = .caldav
) -> HTTPAnswer {
    func href(_ text: String) -> String { "<href xmlns=\"DAV:\">\(text)</href>" }
    var properties = ""
    if let principal {
        properties +=
            "<\(principalProperty)>\(principal == "-" ? "<unauthenticated/>" : href(principal))"
            + "</current-user-principal>"
    }
    if !homes.isEmpty {
        properties +=
            "<\(service.homeElement) xmlns:C=\"urn:ietf:params:xml:ns:\(service)\">\(homes.map(href).joined())"
            + "</\(service.homeElement)>"
    }
    return .status(
        207, [:],
        """
        <multistatus xmlns="DAV:"><response><href>/</href><propstat><prop>\(properties)</prop>\
        <status>HTTP/1.1 200 OK</status>\
        </propstat><propstat><prop><getetag/></prop><status>HTTP/1.1 404 Not Found</status></propstat></response>\
        </multistatus>
        """)
}

/// Makes a server that answers at these places, each a method and a path, and returns 404 elsewhere.
private func server(_ places: [String: @Sendable (HTTPRequest) -> HTTPAnswer]) -> ScriptedTransport {
    ScriptedTransport { request, _ throws(TransportError) in
        places["\(request.method) \(request.address.path)"]?(request) ?? .status(404)
    }
}

private func connection(
    _ url: String, username: String? = "ada", names: [String: [ServiceResolver.Location]] = [:],
    over transport: ScriptedTransport
) -> Connection {
    Connection(
        bookmark: .at(url, username: username), credentials: .basic(username: "ada", password: "secret"),
        limits: Limits(), clock: TestClock.skipping().host, logger: Logger(label: "test"), timeLimits: TimeLimits(),
        transport: transport, resolver: ServiceResolver { names[$0] ?? [] })
}

struct DiscoverTests {
    private static let both: [DAVService] = [.caldav, .carddav]

    @Test("D03: homes are asked of the principal; there may be several, relative, in any spelling", arguments: both)
    func principal(_ service: DAVService) async throws {
        let transport = server([
            "PROPFIND /": { _ in told(principal: "principals/%61da/") },
            "PROPFIND /principals/ada/": { _ in told(homes: ["../../cal/a@b", "http://h/cal//shared/"], of: service) },
        ])
        let homes = try await connection("https://h/", over: transport).loopRequests.discover(service)
        #expect(homes == DAVHomes(principal: "/principals/ada/", homes: ["/cal/a%40b/", "/cal/shared/"]))
        #expect(transport.lines == ["PROPFIND /", "PROPFIND /principals/ada/"])
        #expect(transport.requests.allSatisfy { $0.headers.first(name: "Depth") == "0" })
    }

    @Test("D01: well-known is followed with PROPFIND kept", arguments: [301, 302, 303, 307, 308], both)
    func wellKnown(_ status: Int, _ service: DAVService) async throws {
        let transport = server([
            "PROPFIND /.well-known/\(service)": { _ in .status(status, ["Location": "/dav/"]) },
            "PROPFIND /dav/": { _ in told(principal: "p") },
            "PROPFIND /dav/p": { _ in told(homes: ["/dav/cal/"], of: service) },
        ])
        let homes = try await connection("https://h/files/", over: transport).loopRequests.discover(service)
        #expect(homes == DAVHomes(principal: "/dav/p", homes: ["/dav/cal/"]))
        #expect(
            transport.lines == [
                "PROPFIND /files/", "PROPFIND /.well-known/\(service)", "PROPFIND /dav/", "PROPFIND /dav/p",
            ])
        #expect(
            transport.requests.dropFirst().allSatisfy {
                $0.body == transport.requests[1].body || $0.address.path == "/dav/p"
            })
    }

    @Test(
        "D01, L33: where well-known leads to another origin or to http nothing is sent, and nothing is offered",
        arguments: ["https://sso/login", "http://h/dav/", "https://h:8443/"])
    func elsewhere(_ location: String) async throws {
        let transport = server(["PROPFIND /.well-known/caldav": { _ in .status(302, ["Location": location]) }])
        #expect(try await connection("https://h/", over: transport).loopRequests.discover(.caldav) == nil)
        #expect(transport.requests.allSatisfy { $0.address.origin.description == "https://h" })
    }

    @Test("D02: the path that the name server tells is used, if it means the account's own server", arguments: both)
    func names(_ service: DAVService) async throws {
        let places: [String: @Sendable (HTTPRequest) -> HTTPAnswer] = [
            "PROPFIND /secret/dav": { _ in told(principal: "/p/") },
            "PROPFIND /p/": { _ in told(homes: ["/c/"], of: service) },
        ]
        let location = ServiceResolver.Location(host: "cloud.example.org", port: 443, path: "/secret/dav")
        for (name, username) in [
            ("_\(service)s._tcp.cloud.example.org", "ada"), ("_\(service)s._tcp.example.org", "ada@Example.org"),
        ] {
            let found = try await connection(
                "https://cloud.example.org/x/", username: username, names: [name: [location]], over: server(places)
            ).loopRequests.discover(service)
            #expect(found?.homes == ["/c/"])
        }
        for other in [
            ServiceResolver.Location(host: "evil.example.org", port: 443, path: "/secret/dav"),
            .init(host: "cloud.example.org", port: 8443, path: "/secret/dav"),
            .init(host: "cloud.example.org", port: 443, path: nil),
        ] {
            let transport = server(places)
            let names = ["_\(service)s._tcp.cloud.example.org": [other]]
            #expect(
                try await connection("https://cloud.example.org/", names: names, over: transport).loopRequests.discover(
                    service)
                    == nil)
            #expect(transport.requests.allSatisfy { $0.address.origin.host == "cloud.example.org" })
        }
    }

    @Test("D02: no name server is asked about addresses and local names; without one the account's url works")
    func local() async throws {
        let asked = Mutex<[String]>([])
        for url in [
            "https://127.0.0.1/", "https://[::1]/", "https://localhost/", "https://nas/", "https://a.localhost/",
            "http://x.org/",
        ] {
            let connection = Connection(
                bookmark: .at(url), credentials: .none, limits: Limits(), clock: .system, logger: Logger(label: "test"),
                timeLimits: TimeLimits(), transport: server([:]),
                resolver: ServiceResolver { name in
                    asked.withLock { $0.append(name) }
                    return []
                })
            #expect(try await connection.loopRequests.discover(.caldav) == nil)
        }
        #expect(asked.withLock { $0 } == ["_caldav._tcp.x.org"])
    }

    @Test("C11 D02: with a proxy no name is looked up here")
    func proxied() async throws {
        let asked = Mutex<[String]>([])
        for kind in [Proxy.Kind.http, .socks5] {
            var bookmark = Bookmark.at("https://cloud.example.org/", username: "ada@example.net")
            bookmark.proxy = Proxy(kind, host: "127.0.0.1", port: 1)
            let connection = Connection(
                bookmark: bookmark, credentials: .none, limits: Limits(), clock: .system,
                logger: Logger(label: "test"), timeLimits: TimeLimits(), transport: server([:]),
                resolver: ServiceResolver { name in
                    asked.withLock { $0.append(name) }
                    return []
                })
            #expect(try await connection.loopRequests.discover(.caldav) == nil)
        }
        #expect(asked.withLock { $0 }.isEmpty)
    }

    @Test("the account's url may be the principal itself, a home, or a calendar or address book", arguments: both)
    func itself(_ service: DAVService) async throws {
        let principal = server(["PROPFIND /p/ada/": { _ in told(homes: ["/c/"], of: service) }])
        let found = try await connection("https://h/p/ada", over: principal).loopRequests.discover(service)
        #expect(found == DAVHomes(principal: "/p/ada/", homes: ["/c/"]))

        let kind = service == .caldav ? "calendar" : "addressbook"
        let children = """
            <multistatus xmlns="DAV:"><response><href>/c/</href><propstat>\
            <prop><resourcetype><collection/></resourcetype></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response><response><href>/c/work/</href><propstat>\
            <prop><resourcetype><collection/><\(kind) xmlns="urn:ietf:params:xml:ns:\(service)"/></resourcetype></prop>\
            <status>HTTP/1.1 200 OK</status></propstat></response></multistatus>
            """
        let options: @Sendable (HTTPRequest) -> HTTPAnswer = { _ in
            .status(200, ["DAV": "1, 2", "Dav": service == .caldav ? "Calendar-Access" : "AddressBook"])
        }
        for (text, homes) in [(children, ["/c/"]), (Document.multistatus(["/c/"]), nil)] {
            let home = server([
                "OPTIONS /c/": options,
                "PROPFIND /c/": { $0.headers.first(name: "Depth") == "1" ? .status(207, [:], text) : told() },
            ])
            #expect(try await connection("https://h/c", over: home).loopRequests.discover(service)?.homes == homes)
        }
    }

    @Test("L33: a server without calendars does not offer them, whatever it says instead")
    func notOffered() async throws {
        let transports = [
            server([:]), server(["PROPFIND /": { _ in told() }]), server(["PROPFIND /": { _ in told(principal: "-") }]),
            server(["PROPFIND /": { _ in .status(405) }, "OPTIONS /": { _ in .status(200, ["DAV": "1, 2"]) }]),
            server(["PROPFIND /": { _ in .status(200, [:], "<html>") }]),
            server(["PROPFIND /": { _ in told(principal: "/p/") }, "PROPFIND /p/": { _ in told() }]),
            server(["PROPFIND /.well-known/caldav": { _ in .status(401) }]),
        ]
        for transport in transports {
            let connection = connection("https://h/", over: transport)
            #expect(try await connection.loopRequests.discover(.caldav) == nil)
            // The 401 at a guessed path has not locked the account.
            #expect(try await connection.loopRequests.discover(.carddav) == nil)
        }
    }

    @Test(
        "L33: a server with only one of calendars and address books offers that one; what is kept of one is not taken for the other"
    )
    func apart() async throws {
        for (offered, other) in [(DAVService.caldav, DAVService.carddav), (.carddav, .caldav)] {
            let transport = server([
                "PROPFIND /": { _ in told(principal: "/p/") },
                "PROPFIND /p/": { _ in told(homes: ["/home/"], of: offered) },
            ])
            let connection = connection("https://h/", over: transport)
            let facts = ServerFacts(
                root: "https://h/", product: "x", version: "1", hasFileIDs: false, hasFiles: true,
                rootItem: ListedItem(path: .root, kind: .folder))
            connection.wire.learn(
                .kept(KnownServer(facts, of: .at("https://h/", username: "ada"), at: .now())))
            for _ in 0..<2 {
                #expect(try await connection.loopRequests.discover(other) == nil)
                #expect(try await connection.loopRequests.discover(offered)?.homes == ["/home/"])
            }
            // What was found is kept, and so is that nothing was.
            #expect(transport.lines.count { $0 == "PROPFIND /p/" } == 2)
        }
    }

    @Test(
        "L33: a place that a proxy answers for with a 502 is passed over; without another nothing is offered for now",
        arguments: [502, 504])
    func proxy(_ status: Int) async throws {
        for broken in ["PROPFIND /", "PROPFIND /.well-known/caldav", "OPTIONS /"] {
            let alone = server([broken: { _ in .status(status) }])
            let error = await #expect(throws: ConnectionError.self) {
                try await connection("https://h/", over: alone).loopRequests.discover(.caldav)
            }
            #expect(error?.kind == .notFound && error?.message.contains("\(status)") == true)
        }
        let other = server([
            "PROPFIND /": { _ in .status(status) }, "PROPFIND /.well-known/caldav": { _ in told(homes: ["/c/"]) },
        ])
        #expect(try await connection("https://h/", over: other).loopRequests.discover(.caldav)?.homes == ["/c/"])
    }

    @Test(
        "L33: an error at a place that is only guessed is no trouble of the server's; what answers there is found later",
        arguments: [500, 502, 520])
    func brokenGuess(_ status: Int) async throws {
        let wellKnown = "PROPFIND /.well-known/caldav"
        let transport = server([wellKnown: { _ in .status(status) }])
        let broken = connection("https://h/", over: transport)
        for _ in 0..<2 {
            let error = await #expect(throws: ConnectionError.self) { try await broken.loopRequests.discover(.caldav) }
            #expect(error?.kind == .notFound && error?.message.contains("\(status)") == true)
        }
        // A redirect to nowhere stays one.
        for redirect in [301, 302, 308] {
            let nowhere = server([wellKnown: { _ in .status(redirect) }])
            #expect(
                try await connection("https://h/", over: nowhere).loopRequests.discover(.caldav) == nil, "\(redirect)")
        }
    }

    @Test("L33: what is no calendar server at a place that is only guessed is no trouble of the server's")
    func strangeGuess() async throws {
        let wellKnown = "PROPFIND /.well-known/caldav"
        for answer in [
            HTTPAnswer.status(207, [:], "<html><body>Welcome</body></html>"),
            told(principal: "https://inner.example.org/p/"), told(homes: ["https://inner.example.org/c/"]),
        ] {
            let transport = server([wellKnown: { _ in answer }])
            #expect(try await connection("https://h/", over: transport).loopRequests.discover(.caldav) == nil)
            #expect(transport.requests.allSatisfy { $0.address.origin.host == "h" })
        }
        let closing = ScriptedTransport { request, _ throws(TransportError) in
            guard request.address.path != "/.well-known/caldav" else { throw .closed }
            return .status(404)
        }
        let error = await #expect(throws: ConnectionError.self) {
            try await connection("https://h/", over: closing).loopRequests.discover(.caldav)
        }
        #expect(error?.kind == .notFound)
    }

    @Test("I13: an error is not an answer that there is nothing")
    func errors() async throws {
        for (place, status, kind) in [
            ("PROPFIND /", 500, ConnectionError.Kind.serverError), ("PROPFIND /.well-known/caldav", 503, .serverError),
            ("PROPFIND /", 401, .authentication), ("OPTIONS /", 500, .serverError),
        ] {
            let transport = server([place: { _ in .status(status) }])
            let error = await #expect(throws: ConnectionError.self) {
                try await connection("https://h/", over: transport).loopRequests.discover(.caldav)
            }
            #expect(error?.kind == kind)
        }
        let cut = server(["PROPFIND /": { _ in .status(207, [:], "<multistatus xmlns=\"DAV:\"><response>") }])
        let broken = await #expect(throws: ConnectionError.self) {
            try await connection("https://h/", over: cut).loopRequests.discover(.caldav)
        }
        #expect(broken?.kind == .protocolViolation)
        for service in Self.both {
            let elsewhere = server([
                "PROPFIND /": { _ in told(principal: "/p/") },
                "PROPFIND /p/": { _ in told(homes: ["https://p42.example.org/c/"], of: service) },
            ])
            let error = await #expect(throws: ConnectionError.self) {
                try await connection("https://h/", over: elsewhere).loopRequests.discover(service)
            }
            #expect(error?.kind == .redirectRefused && error?.message.contains("https://p42.example.org/c/") == true)
        }
    }
}
