import CLarder
import LarderFakeHost
import Testing

/// The built share loop, with the records of an account's shares and a server whose answers the test sets.
final class ShareServer {
    let fixture: PluginFixture
    /// The ETags of the existing items, by target.
    var etags: [String: String] = [:]
    /// The targets of folders that are listed, with a closing slash.
    var folders: Set<String> = []
    /// The targets that their folder's listing leaves out.
    var hidden: Set<String> = []
    /// The number of other entries that each of these folders has.
    var others = 0
    /// The OCS answers for single shares, by target below the sharing service's address: code and data. Other shares
    /// are 404.
    var told: [String: (code: Int, data: String)] = [:]
    var sharing = #"{"api_enabled":true}"#
    /// The status of all answers that are not OCS.
    var status: UInt32 = 207

    static let home = "/remote.php/webdav/"
    private static let ocs = "/ocs/v2.php/"
    private static let shares = "apps/files_sharing/api/v1/"

    init(settings: String = "{}", home: String = home) throws {
        fixture = try PluginFixture.opening(plugin: "ShareLoop")
        #expect(fixture.start("org.larder.share-loop", settings: settings) == LARDER_OK)
        larder_fake_files_home(fixture.fake, home)
        larder_fake_serve_with(
            fixture.fake,
            { context, method, target, _ in
                guard let context else { return }
                let server = Unmanaged<ShareServer>.fromOpaque(context).takeUnretainedValue()
                server.answer(String(cString: method), String(cString: target))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    private func answer(_ method: String, _ target: String) {
        if method == "PROPFIND" {
            if status == 207, folders.contains(target) { return list(target) }
            guard let etag = etags[target] else {
                return larder_fake_answer_dav(fixture.fake, method, target, status == 207 ? 404 : status)
            }
            larder_fake_answer_dav(fixture.fake, method, target, status)
            guard status == 207 else { return }
            larder_fake_response(fixture.fake, target, 200, nil)
            larder_fake_property(fixture.fake, "{DAV:}getetag", etag)
            return
        }
        guard let range = target.firstRange(of: Self.ocs) else {
            return larder_fake_answer(fixture.fake, method, target, 404, nil)
        }
        switch String(target[range.upperBound...]) {
        case "cloud/capabilities?format=json":
            say(target, 200, #"{"capabilities":{"files_sharing":\#(sharing)}}"#)
        case let path where path.hasPrefix(Self.shares):
            let (code, data) = told[String(path.dropFirst(Self.shares.count))] ?? (404, "[]")
            say(target, code, data)
        default: say(target, 404, "[]")
        }
    }

    private func list(_ folder: String) {
        larder_fake_answer_dav(fixture.fake, "PROPFIND", folder, 207)
        larder_fake_response(fixture.fake, folder, 200, nil)
        larder_fake_property(fixture.fake, "{DAV:}getetag", "folder")
        for (target, etag) in etags
        where target.hasPrefix(folder) && !target.dropFirst(folder.count).contains("/") && !hidden.contains(target) {
            larder_fake_response(fixture.fake, target + "/", 200, nil)
            larder_fake_property(fixture.fake, "{DAV:}getetag", etag)
        }
        for number in 0..<others {
            larder_fake_response(fixture.fake, "\(folder)other\(number)", 200, nil)
            larder_fake_property(fixture.fake, "{DAV:}getetag", "other")
        }
    }

    private func say(_ target: String, _ code: Int, _ data: String) {
        larder_fake_answer(
            fixture.fake, "GET", target, code == 404 ? 404 : 200,
            #"{"ocs":{"meta":{"statuscode":\#(code)},"data":\#(data)}}"#)
    }

    /// Adds a share's record to the fake host.
    func put(_ id: String, path: String?, _ more: String = #""state":"accepted""#) {
        let path = path.map { #""path":"\#($0)","# } ?? ""
        fixture.put(record: id, in: "shares", value: #"{"direction":"withMe",\#(path)\#(more)}"#)
    }

    @discardableResult func poll(_ id: String) -> larder_status { fixture.poll(id) }
    /// Returns the paths that the item list was asked to check since the last call.
    func looks() -> [String] {
        defer { fixture.forget() }
        return fixture.paths("look")
    }
    func exists(_ id: String) -> Bool { fixture.record(id, in: "shares") != nil }

    /// The methods and targets of the requests since `forget`.
    var asked: [String] { fixture.requests.map { "\($0.method) \($0.target)" } }
}
