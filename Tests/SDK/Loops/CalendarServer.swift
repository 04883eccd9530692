import CLarder
import LarderFakeHost

/// A calendar on a server, presented through the fake host's `dav` and `http`, with the faults of real servers.
final class CalendarServer {
    private let fake: OpaquePointer
    let path: String
    private(set) var objects: [String: (etag: String, content: String)] = [:]
    /// The names of the changed objects, oldest first. A token says how many of these changes a client knows.
    private var log: [String] = []
    private var dropped = 0
    private var edits = 0

    var prefix = "token-"
    var supportsSync = true
    var supportsMultiget = true
    /// Returns an object's contents for a listing of everything that asks for contents, from the object's name and its
    /// contents; nil leaves them out.
    var givesContents: (String, String) -> String? = { _, _ in nil }
    /// The status of a REPORT sync-collection that asks for contents; nil answers as any other report.
    var contentsStatus: UInt32?
    /// Called before a REPORT sync-collection is answered. The argument says whether the report asks for contents.
    var onReport: (Bool) -> Void = { _ in }
    /// Whether a REPORT sync-collection that asks for contents gets no answer.
    var failsContents = false
    /// The status of a report with an unknown token; nil answers with the token itself and no changes.
    var invalidStatus: UInt32? = 403
    var invalidError: String? = "{DAV:}valid-sync-token"
    /// The largest number of changes in a report. A report with more changes is cut off.
    var pageSize = Int.max
    /// The status of every REPORT sync-collection; nil answers properly.
    var reportStatus: UInt32?
    /// The largest number of objects that a multiget may ask for, and the status of one that asks for more.
    var mostAtOnce = Int.max
    var tooManyStatus: UInt32 = 507
    /// The hrefs with which every multiget fails as one that asks for too many does.
    var crashing: Set<String> = []
    /// The names of collections in the calendar, which are listed without a closing slash.
    var collections: Set<String> = []
    /// The status with which a removed object is listed.
    var goneStatus: UInt32 = 404
    /// The hrefs for which a multiget reports an error.
    var broken: Set<String> = []
    /// The hrefs at which the answer to a multiget breaks off, as at a byte that is not XML.
    var unreadable: Set<String> = []
    /// The hrefs that a multiget leaves out.
    var omitted: Set<String> = []
    /// The hrefs that a multiget names without their contents.
    var empty: Set<String> = []
    /// Whether a multiget that asks for too many gets no answer.
    var closesWhenTooMany = false
    /// Whether the calendar is not there any more.
    var isGone = false
    /// Whether the objects have no ETags in a listing.
    var hidesETags = false
    /// The hrefs whose GET fails.
    var failingGets: Set<String> = []
    /// The text that a proxy inserts in front of every path in a listing or a report.
    var pathPrefix = ""
    /// The requests for many objects that fail, counted from 0. A request for one fails if the next one of these does.
    var failing: Set<Int> = []
    /// Whether a request fails while another request is under way.
    var takesOneAtATime = false
    /// Called with the number of each request for many objects.
    var onMultiget: (Int) -> Void = { _ in }
    /// The number of other requests under way at each request for many objects.
    private(set) var underWay: [Int] = []
    /// Whether each answer breaks off before its end.
    var breaksAnswers = false

    init(_ fixture: PluginFixture, path: String = "/ada/work/") {
        fake = fixture.fake
        self.path = path
        larder_fake_serve_with(
            fake,
            { context, method, target, body in
                guard let context else { return }
                let server = Unmanaged<CalendarServer>.fromOpaque(context).takeUnretainedValue()
                server.answer(String(cString: method), String(cString: target), String(cString: body))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    var token: String { prefix + "\(log.count)" }
    var ctag: String { "ctag-\(edits)" }
    func href(_ name: String) -> String { path + name }

    static func event(_ name: String, _ summary: String) -> String {
        """
        BEGIN:VCALENDAR\r
        BEGIN:VEVENT\r
        UID:\(name)\r
        DTSTART:20260301T100000Z\r
        SUMMARY:\(summary)\r
        END:VEVENT\r
        END:VCALENDAR\r

        """
    }

    func put(_ name: String, _ summary: String = "") {
        edits += 1
        objects[name] = ("\"\(edits)\"", Self.event(name, summary))
        log.append(name)
    }

    func remove(_ name: String) {
        edits += 1
        objects[name] = nil
        log.append(name)
    }

    /// Forgets the changes after the first `count`, as a server restored from a backup does. The objects stay as they
    /// are.
    func forgetChanges(after count: Int) { log.removeLast(log.count - count) }

    /// Replaces the calendar by another one at the same path, whose history begins anew.
    func makeAnew() { (objects, log) = ([:], []) }

    /// Forgets the changes but keeps the tokens valid, as a clean-up job does.
    func emptyLog() { dropped = log.count }

    /// The hrefs and contents that the loop must reach.
    var truth: [String: String] {
        Dictionary(uniqueKeysWithValues: objects.map { (href($0.key), $0.value.content) })
    }

    private func answer(_ method: String, _ target: String, _ body: String) {
        switch method {
        case "PROPFIND": list()
        case "REPORT" where body.contains("calendar-multiget"): multiget(body)
        case "REPORT": report(body)
        default: get(target)
        }
        if breaksAnswers { larder_fake_break_answer(fake, LARDER_IO) }
    }

    private func list() {
        larder_fake_answer_dav(fake, "PROPFIND", path, 207)
        larder_fake_response(fake, pathPrefix + path, 200, nil)
        larder_fake_property(fake, "{DAV:}resourcetype", "{DAV:}collection\n{urn:ietf:params:xml:ns:caldav}calendar")
        for (name, object) in objects {
            larder_fake_response(fake, pathPrefix + href(name), 200, nil)
            if !hidesETags { larder_fake_property(fake, "{DAV:}getetag", object.etag) }
        }
        listCollections()
    }

    private func listCollections() {
        for name in collections {
            larder_fake_response(fake, pathPrefix + href(name), 200, nil)
            larder_fake_property(fake, "{DAV:}resourcetype", "{DAV:}collection")
        }
    }

    private func report(_ body: String) {
        let sent = Self.unescaped(Self.between("<sync-token>", "</sync-token>", body))
        let wantsContents = body.contains("calendar-data")
        onReport(wantsContents)
        if wantsContents, failsContents {
            larder_fake_answer_dav(fake, "REPORT", path, 207)
            return larder_fake_fail_request(fake, LARDER_IO)
        }
        if let status = (wantsContents ? contentsStatus : nil) ?? reportStatus ?? (supportsSync ? nil : 415) {
            larder_fake_answer_dav(fake, "REPORT", path, status)
            larder_fake_end_dav(fake, nil, 0, status == 415 ? "{DAV:}supported-report" : nil)
            return
        }
        let known = sent.hasPrefix(prefix) ? Int(sent.dropFirst(prefix.count)) : nil
        if sent.isEmpty {
            larder_fake_answer_dav(fake, "REPORT", path, 207)
            for (name, object) in objects.sorted(by: { $0.key < $1.key }) {
                larder_fake_response(fake, pathPrefix + href(name), 200, nil)
                larder_fake_property(fake, "{DAV:}getetag", object.etag)
                if wantsContents, let content = givesContents(name, object.content) { giveContent(content) }
            }
            listCollections()
            larder_fake_end_dav(fake, token, 0, nil)
        } else if let known, known <= log.count {
            tell(log.dropFirst(max(known, dropped)), since: max(known, dropped))
        } else if let invalidStatus {
            larder_fake_answer_dav(fake, "REPORT", path, invalidStatus)
            larder_fake_end_dav(fake, nil, 0, invalidError)
        } else {
            larder_fake_answer_dav(fake, "REPORT", path, 207)
            larder_fake_end_dav(fake, sent, 0, nil)
        }
    }

    private func tell(_ changes: ArraySlice<String>, since known: Int) {
        let page = changes.prefix(pageSize)
        larder_fake_answer_dav(fake, "REPORT", path, 207)
        for name in Set(page) {
            if let object = objects[name] {
                larder_fake_response(fake, pathPrefix + href(name), 200, nil)
                larder_fake_property(fake, "{DAV:}getetag", object.etag)
            } else {
                larder_fake_response(fake, pathPrefix + href(name), goneStatus, nil)
            }
        }
        listCollections()
        let isCut = page.count < changes.count
        larder_fake_end_dav(fake, prefix + "\(known + page.count)", isCut ? 1 : 0, nil)
    }

    private func multiget(_ body: String) {
        underWay.append(larder_fake_under_way(fake))
        onMultiget(underWay.count - 1)
        if isGone { return larder_fake_answer_dav(fake, "REPORT", path, 404) }
        let asked = body.split(separator: "<href>").dropFirst().map { Self.unescaped(String($0.prefix { $0 != "<" })) }
        guard asked.count <= mostAtOnce, crashing.isDisjoint(with: asked) else {
            larder_fake_answer_dav(fake, "REPORT", path, tooManyStatus)
            if closesWhenTooMany { larder_fake_fail_request(fake, LARDER_IO) }
            return
        }
        larder_fake_answer_dav(fake, "REPORT", path, supportsMultiget ? 207 : 501)
        if failing.contains(underWay.count - 1) || takesOneAtATime && underWay.last != 0 {
            return larder_fake_fail_request(fake, LARDER_IO)
        }
        guard supportsMultiget else { return }
        for href in asked {
            if unreadable.contains(href) { return larder_fake_break_answer(fake, LARDER_IO) }
            if omitted.contains(href) { continue }
            if broken.contains(href) {
                larder_fake_response(fake, href, 500, nil)
            } else if let object = objects[String(href.dropFirst(path.count))] {
                larder_fake_response(fake, href, 200, nil)
                larder_fake_property(fake, "{DAV:}getetag", object.etag)
                if !empty.contains(href) { giveContent(object.content) }
            } else {
                larder_fake_response(fake, href, 404, nil)
            }
        }
    }

    /// Adds the content to the answer, without carriage returns, as an XML parser delivers it.
    private func giveContent(_ content: String) {
        larder_fake_property(
            fake, "{urn:ietf:params:xml:ns:caldav}calendar-data",
            String(decoding: content.utf8.filter { $0 != 0x0D }, as: UTF8.self))
    }

    private func get(_ target: String) {
        if failing.contains(underWay.count) {
            larder_fake_answer(fake, "GET", target, 200, nil)
            return larder_fake_fail_request(fake, LARDER_IO)
        }
        if isGone { return larder_fake_answer(fake, "GET", target, 404, nil) }
        if failingGets.contains(target) { return larder_fake_answer(fake, "GET", target, 500, nil) }
        let object = objects[String(target.dropFirst(path.count))]
        larder_fake_answer(fake, "GET", target, object == nil ? 404 : 200, object?.content)
        if let object { larder_fake_answer_header(fake, "ETag", object.etag) }
    }

    private static func between(_ start: String, _ end: String, _ text: String) -> String {
        let parts = text.split(separator: start, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return "" }
        return String(parts[1].split(separator: end, maxSplits: 1, omittingEmptySubsequences: false)[0])
    }

    private static func unescaped(_ text: String) -> String {
        var text = text
        for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")] {
            text = text.split(separator: entity, omittingEmptySubsequences: false).joined(separator: character)
        }
        return text
    }
}
