import LarderSDK

/// The requests about one calendar, and the meaning of their answers (RFC 6578, RFC 4791).
struct Exchange {
    let dav: Host.DAV
    let http: Host.HTTP
    let log: Host.Log?
    /// The calendar's path with a closing slash.
    let calendar: String

    enum Property {
        static let etag = "{DAV:}getetag"
        static let kind = "{DAV:}resourcetype"
        static let data = "{urn:ietf:params:xml:ns:caldav}calendar-data"
    }

    /// The result of a REPORT sync-collection.
    enum Sync {
        case changes(Delta)
        /// The token is no longer of use.
        case outdated
        /// The server refuses a report with a token, or answers it with no new token, and does not say whether that is
        /// because of the token.
        case refused
        /// The server does not support the report for this calendar.
        case unsupported
    }

    /// The changes since a token.
    struct Delta {
        /// The changed and the new objects.
        var present: [Member] = []
        var gone: [String] = []
        var token = ""
        /// Whether the server left changes out. The next report with `token` has them.
        var isTruncated = false

        var isEmpty: Bool { present.isEmpty && gone.isEmpty }
    }

    /// Asks for the changes since a token; with an empty token: for everything. The request has no limit and no blank
    /// around the token: some servers lose changes with a limit, and some refuse a blank.
    ///
    /// A token with which the report is refused twice is outdated, whatever the status. The listing that follows shows
    /// whether it was the token.
    func changes(since token: String) throws(PluginError) -> Sync {
        let first = try ask(since: token)
        guard case .refused = first else { return first }
        // A proxy's error page, and many servers' own, do not say that the token is what they refuse.
        let second = try ask(since: token)
        guard case .refused = second else { return second }
        return .outdated
    }

    private func ask(since token: String) throws(PluginError) -> Sync {
        var answer = try dav.report(
            calendar, body: Self.report(since: token, "<getetag/><resourcetype/>"), [Property.etag, Property.kind])
        return try read(&answer, since: token) { _ in false }
    }

    /// Asks for everything together with the contents. A report can have any property (RFC 6578, section 3.2), but not
    /// every server returns the contents.
    /// - Parameters:
    ///   - isLate: Tells whether a request that fails now has taken long.
    ///   - keep: Takes the contents of an object, if there are any, and tells whether it keeps them.
    /// - Returns: The members without those whose contents are kept. Nil: everything must be asked for without
    ///   contents.
    func everything(
        isLate: () throws(PluginError) -> Bool, keep: (DAVResponse) throws(PluginError) -> Bool
    ) throws(PluginError) -> Delta? {
        let body = Self.report(
            since: "", #"<getetag/><resourcetype/><C:calendar-data xmlns:C="urn:ietf:params:xml:ns:caldav"/>"#)
        var answer: DAVAnswer
        do throws(PluginError) {
            answer = try dav.report(calendar, body: body, [Property.etag, Property.data, Property.kind])
        } catch {
            guard error.status == .io, try isLate() else { throw error }
            return nil
        }
        do throws(PluginError) {
            guard case .changes(let delta) = try read(&answer, since: "", keep: keep) else { return nil }
            return delta
        } catch {
            guard error.status != .cancelled, ![429, 503].contains(answer.status) else { throw error }
            return nil
        }
    }

    private static func report(since token: String, _ properties: String) -> String {
        #"<?xml version="1.0" encoding="utf-8"?><sync-collection xmlns="DAV:"><sync-token>"# + token.escapedForXML
            + "</sync-token><sync-level>1</sync-level><prop>\(properties)</prop></sync-collection>"
    }

    private func read(
        _ answer: inout DAVAnswer, since token: String, keep: (DAVResponse) throws(PluginError) -> Bool
    ) throws(PluginError) -> Sync {
        var delta = Delta()
        var doubtful: [String] = []
        var (hasOwn, hasForeign) = (false, false)
        var leftOut = LeftOut()
        while let response = try answer.next() {
            guard let href = member(response.href) else {
                hasForeign = hasForeign || !isInside(response.href)
                leftOut.note(response, isObject: isLeftOut(response, kind: response.values.last ?? nil))
                continue
            }
            hasOwn = true
            if Self.isCollection(response.values.last ?? nil) { continue }
            switch response.status {
            case 404, 410: delta.gone.append(href)
            case 418: doubtful.append(href)
            // A collection inside the calendar. The report does not descend into it.
            case 403 where response.errors.contains("{DAV:}sync-traversal-supported"): continue
            case 200 where try keep(response): continue
            default: delta.present.append(Member(href: href, etag: response.status == 200 ? response.values[0] : nil))
            }
        }
        let end = try answer.end()
        leftOut.tell(log, of: calendar)
        guard answer.status == 207 else { return try meaning(of: answer.status, end.errors, isInitial: token.isEmpty) }
        guard hasOwn || !hasForeign else { throw foreign }
        for href in doubtful {
            if try isGone(href) { delta.gone.append(href) } else { delta.present.append(Member(href: href)) }
        }
        guard let next = end.syncToken, !next.isEmpty else {
            return token.isEmpty ? .unsupported : .refused
        }
        guard !end.isTruncated || !next.utf8.elementsEqual(token.utf8) else {
            throw failure("a truncated report that does not continue")
        }
        (delta.token, delta.isTruncated) = (next, end.isTruncated)
        return .changes(delta)
    }

    private func meaning(of status: Int, _ errors: [String], isInitial: Bool) throws(PluginError) -> Sync {
        if [400, 403, 409, 410, 412, 415].contains(status), errors.contains("{DAV:}valid-sync-token") {
            return isInitial ? .unsupported : .outdated
        }
        switch status {
        case 403 where errors.contains("{DAV:}supported-report"): return .unsupported
        // Some servers answer only with this status to a token that they refuse.
        case 400, 415: return isInitial ? .unsupported : .outdated
        case 405, 501, 507: return .unsupported
        case 401: throw refusal(status)
        default:
            guard !isInitial else { throw refusal(status) }
            return .refused
        }
    }

    /// Returns all members in the order of their hrefs' bytes (RFC 4918, section 9.1).
    func listing() throws(PluginError) -> [Member] {
        var answer = try dav.propfind(calendar, depth: 1, [Property.etag, Property.kind])
        var members: [Member] = []
        var isComplete = false
        var (hasOwn, hasForeign) = (false, false)
        var leftOut = LeftOut()
        while let response = try answer.next() {
            if isCalendar(response.href) { isComplete = isComplete || response.status == 200 }
            guard let href = member(response.href) else {
                hasForeign = hasForeign || !isInside(response.href)
                leftOut.note(response, isObject: isLeftOut(response, kind: response.values[1]))
                continue
            }
            hasOwn = true
            guard response.status == 200 else { continue }
            if Self.isCollection(response.values[1]) { continue }
            members.append(Member(href: href, etag: response.values[0]))
        }
        let end = try answer.end()
        leftOut.tell(log, of: calendar)
        guard answer.status == 207 else { throw refusal(answer.status) }
        guard hasOwn || !hasForeign else { throw foreign }
        guard isComplete, !end.isTruncated else { throw failure("a listing that is not complete") }
        return members.sorted { $0.href.utf8.lexicographicallyPrecedes($1.href.utf8) }
    }

    /// Tells whether an object is gone for which the server answered with a status that may mean that (418: Nextcloud's
    /// for an object in its trash bin).
    private func isGone(_ href: String) throws(PluginError) -> Bool {
        let answer = try http.send("GET", href)
        return answer.status == 404 || answer.status == 410
    }

    private func isCalendar(_ href: String) -> Bool {
        href.utf8.elementsEqual(calendar.utf8) || (href + "/").utf8.elementsEqual(calendar.utf8)
    }

    /// Tells whether a path is the calendar, or anything in it.
    private func isInside(_ href: String) -> Bool { isCalendar(href) || href.utf8.starts(with: calendar.utf8) }

    /// The error for an answer that names objects, but none of this calendar: a proxy that rewrites paths does not tell
    /// what is gone.
    private var foreign: PluginError { failure("only paths outside of the calendar") }

    private static func isCollection(_ kind: String?) -> Bool { kind?.contains("{DAV:}collection") == true }

    /// Returns the href if it is that of an object in this calendar, and short enough for a record's key. An object's
    /// name may have slashes, as those have that Apple's reminders make; only at the end a slash is a collection's.
    private func member(_ href: String) -> String? {
        guard href.utf8.starts(with: calendar.utf8), href.utf8.count <= 4096 else { return nil }
        let name = href.utf8.dropFirst(calendar.utf8.count)
        return name.isEmpty || name.last == UInt8(ascii: "/") ? nil : href
    }

    /// Tells whether a response that ``member(_:)`` leaves out is about an object of this calendar all the same.
    private func isLeftOut(_ response: DAVResponse, kind: String?) -> Bool {
        response.status == 200 && isInside(response.href) && !isCalendar(response.href) && !Self.isCollection(kind)
    }

    func refusal(_ status: Int) -> PluginError {
        switch status {
        case 401:
            PluginError(.denied, "the server does not accept this account's password for the calendar \(calendar)")
        case 403: PluginError(.denied, "the server does not let this account read the calendar \(calendar)")
        case 404, 410: PluginError(.notFound, "the calendar \(calendar) is no longer on the server")
        default: PluginError(.io, "the server answered \(status) for the calendar \(calendar)")
        }
    }

    func failure(_ what: String) -> PluginError {
        PluginError(.io, "the server answered with \(what) for the calendar \(calendar)")
    }
}
