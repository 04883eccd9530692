import CLarder
import LarderFakeHost
import Testing

/// An account's server, presented through the fake host's `dav` and `http`: calendar homes and OCS.
final class AccountServer {
    private let fake: OpaquePointer

    struct Calendar {
        var name = "Work"
        var types = "{DAV:}collection\n{urn:ietf:params:xml:ns:caldav}calendar"
        var token = "token-1"
        var status: UInt32 = 200
        var more: [String: String] = [:]
    }

    /// The calendars by their paths. A home contains the calendars below its path.
    var calendars: [String: Calendar] = [:]
    var homeStatus: [String: UInt32] = [:]
    /// Whether the home itself is missing from its listing.
    var hidesHome = false
    var breaksListing = false

    var hasOCS = true
    var isSharingEnabled = true
    var hasPending = false
    var hasFederation = false
    var okCode = 200
    /// The shares, each a JSON object.
    var byMe: [String] = []
    var withMe: [String] = []
    var pending: [String] = []
    var remote: [String] = []
    var user = #"{"id":"ada","display-name":"Ada","email":null,"quota":{"free":90,"used":10.0}}"#
    /// The answers that replace the proper ones, by target below `v2.php/`.
    var answers: [String: (status: UInt32, body: String)] = [:]

    init(_ fixture: PluginFixture) {
        fake = fixture.fake
        larder_fake_serve_with(
            fake,
            { context, method, target, _ in
                guard let context else { return }
                let server = Unmanaged<AccountServer>.fromOpaque(context).takeUnretainedValue()
                let (method, target) = (String(cString: method), String(cString: target))
                if method == "PROPFIND" { server.list(target) } else { server.ocs(target) }
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func setHomes(_ homes: String...) {
        let texts = homes.map { Array($0.utf8CString) }
        let pointers = texts.map { text in
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count)
            copy.initialize(from: text, count: text.count)
            return copy
        }
        defer { for pointer in pointers { pointer.deallocate() } }
        pointers.map { UnsafePointer($0) }.withUnsafeBufferPointer {
            larder_fake_homes(fake, "/principals/ada/", $0.baseAddress, $0.count)
        }
    }

    private func list(_ home: String) {
        let status = homeStatus[home] ?? 207
        larder_fake_answer_dav(fake, "PROPFIND", home, status)
        if !hidesHome {
            larder_fake_response(fake, home, 200, nil)
            larder_fake_property(fake, "{DAV:}resourcetype", "{DAV:}collection")
        }
        for (path, calendar) in calendars where path.hasPrefix(home) {
            larder_fake_response(fake, path, calendar.status, nil)
            guard calendar.status == 200 else { continue }
            larder_fake_property(fake, "{DAV:}resourcetype", calendar.types)
            larder_fake_property(fake, "{DAV:}displayname", calendar.name)
            larder_fake_property(fake, "{DAV:}sync-token", calendar.token)
            larder_fake_property(fake, "{DAV:}supported-report-set", "{DAV:}sync-collection\n{DAV:}expand-property")
            for (name, value) in calendar.more { larder_fake_property(fake, name, value) }
        }
        if breaksListing { larder_fake_break_answer(fake, LARDER_IO) }
    }

    private func ocs(_ target: String) {
        let prefix = "/ocs/v2.php/"
        guard hasOCS, target.hasPrefix(prefix) else {
            return larder_fake_answer(fake, "GET", target, 404, "<html>no</html>")
        }
        let path = String(target.dropFirst(prefix.count))
        let shares = "apps/files_sharing/api/v1/"
        if let answer = answers[path] { return larder_fake_answer(fake, "GET", target, answer.status, answer.body) }
        switch path {
        case "cloud/capabilities?format=json":
            success(
                target,
                """
                {"version":{},"capabilities":{"files_sharing":{"api_enabled":\(isSharingEnabled),\
                "federation":{"incoming":\(hasFederation)}}}}
                """
            )
        case "cloud/user?format=json": success(target, user)
        case shares + "shares?format=json": success(target, list(byMe))
        case shares + "shares?format=json&shared_with_me=true&state=all": success(target, list(withMe))
        case shares + "shares/pending?format=json" where hasPending: success(target, list(pending))
        case shares + "remote_shares?format=json" where hasFederation: success(target, list(remote))
        default:
            larder_fake_answer(
                fake, "GET", target, 404, #"{"ocs":{"meta":{"status":"failure","statuscode":404},"data":[]}}"#)
        }
    }

    private func list(_ shares: [String]) -> String {
        isSharingEnabled ? "[\(shares.joined(separator: ","))]" : "null"
    }

    private func success(_ target: String, _ data: String) {
        larder_fake_answer(
            fake, "GET", target, 200, #"{"ocs":{"meta":{"status":"ok","statuscode":\#(okCode)},"data":\#(data)}}"#)
    }
}

/// The built core loop, with an account on a server.
struct CoreAccount {
    let fixture: PluginFixture
    let server: AccountServer

    init(settings: String = "{}") throws {
        fixture = try PluginFixture.opening(plugin: "CoreLoop")
        server = AccountServer(fixture)
        #expect(fixture.start("org.larder.core-loop", settings: settings) == LARDER_OK)
        setDay(0)
    }

    func setDay(_ day: Int64) {
        larder_fake_time(fixture.fake, (20_000 + day) * 86_400_000_000_000, day * 86_400_000_000_000)
    }

    @discardableResult func poll() -> larder_status { fixture.poll("core") }
    var calendars: [PluginFixture.Kept] { fixture.records(in: "calendars") }
    var shares: [PluginFixture.Kept] { fixture.records(in: "shares") }
    func share(_ id: String) -> String { fixture.record(id, in: "shares")?.value ?? "none" }

    /// The methods and targets of the requests since `forget`, without the common prefix of the OCS targets.
    var asked: [String] {
        fixture.requests.map {
            let target = $0.target.hasPrefix("/ocs/v2.php/") ? String($0.target.dropFirst(12)) : $0.target
            return "\($0.method) \(target)"
        }
    }
}
