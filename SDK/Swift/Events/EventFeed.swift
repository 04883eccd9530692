/// A client of an events endpoint in plain JSON, which gives the newest event id and pages of the changes after an
/// event id.
///
/// A page is `{"EventID": "…", "Refresh": 0, "More": 0, …}`. `Refresh` may be a boolean, a number or a mask, `More` a
/// boolean or a number. Unknown members are ignored.
///
/// ```swift
/// let feed = EventFeed(try host.require(host.http, .http), url: "/events")
/// if let page = try feed.page("core/v5/events", since: "41") {
///     for change in page.changes("Calendars", entity: "Calendar") where change.isDelete {
///         host.log?.debug("the calendar \(change.id) is gone")
///     }
/// }
/// ```
public struct EventFeed {
    private let http: Host.HTTP
    private let url: String

    /// Creates a client.
    /// - Parameters:
    ///   - http: The service that sends the requests.
    ///   - url: The endpoint's address at the account's server: a path or a whole address.
    public init(_ http: Host.HTTP, url: String) {
        self.http = http
        self.url = url.utf8.last == UInt8(ascii: "/") ? String(url.dropLast()) : url
    }

    /// One page of changes.
    public struct Page: Sendable {
        /// The position after this page.
        public var eventID: String
        /// The parts of the cache that must be fetched anew.
        public var refresh: RefreshSet
        /// Whether there is more after this page.
        public var more: Bool
        /// The whole page.
        public var json: JSON

        /// Returns the changes of things of a kind, oldest first. It skips malformed ones.
        /// - Parameters:
        ///   - name: The name of the array: `Calendars`.
        ///   - entity: The name of the member that holds the thing: `Calendar`.
        public func changes(_ name: String, entity: String) -> [Change] {
            (json[name]?.array ?? []).compactMap { change in
                guard let id = change["ID"]?.string, !id.isEmpty, let action = change["Action"]?.integer else {
                    return nil
                }
                return Change(id: id, isDelete: action == 0, entity: change[entity])
            }
        }
    }

    /// A change of one thing.
    public struct Change: Sendable {
        /// The thing's id.
        public var id: String
        /// Whether the thing was deleted. Otherwise it was added or changed.
        public var isDelete: Bool
        /// The thing after the change. Nil if the page does not say.
        public var entity: JSON?
    }

    /// Returns the newest event id.
    /// - Parameters:
    ///   - path: A path below the endpoint's address: `core/v4/events/latest`.
    ///   - name: The name of the member that holds the event id.
    /// - Throws: ``Status/unsupported`` if there is no such endpoint, ``Status/io`` if it answers without an event id,
    ///   ``Status/limit`` if the answer is longer than 8 MiB, and what ``Host/HTTP/send(_:_:headers:body:)`` throws.
    public func latest(_ path: String, name: String = "EventID") throws(PluginError) -> String {
        guard let json = try ask(path) else {
            throw PluginError(.io, "the events endpoint \(url)/\(path) refused the request")
        }
        return try eventID(in: json, name, path)
    }

    /// Returns the page after an event id. Nil if the event id is of no use any more, and everything must be fetched
    /// anew.
    /// - Parameters:
    ///   - path: A path below the endpoint's address, without the id: `core/v5/events`.
    ///   - id: The event id.
    ///   - name: The name of the member that holds the next event id.
    /// - Throws: As ``latest(_:name:)``.
    public func page(_ path: String, since id: String, name: String = "EventID") throws(PluginError) -> Page? {
        guard let json = try ask("\(path)/\(Self.escaped(id))") else { return nil }
        return Page(
            eventID: try eventID(in: json, name, path), refresh: Self.refresh(json["Refresh"]),
            more: Self.isTrue(json["More"]), json: json)
    }

    /// Returns all things of a kind, from as many parts as the endpoint makes. Nil: the endpoint has no such listing.
    /// - Parameters:
    ///   - path: A path below the endpoint's address: `calendar/v1`.
    ///   - name: The name of the array: `Calendars`.
    /// - Throws: ``Status/io`` if the listing is not whole: a part without the array, a thing without an `ID`, an empty
    ///   part that is not the last, a part that is not there though the one before said so, or more than 10,000 parts;
    ///   ``Status/limit`` if a part is longer than 8 MiB, and what ``Host/HTTP/send(_:_:headers:body:)`` throws.
    public func listing(_ path: String, of name: String) throws(PluginError) -> [Listed]? {
        var all: [Listed] = []
        for part in 0..<Self.mostParts {
            let target = part == 0 ? path : "\(path)?Page=\(part)"
            let answer: JSON?
            do throws(PluginError) { answer = try ask(target) } catch {
                guard error.status == .unsupported else { throw error }
                if part == 0 { return nil }
                // The status unsupported would tell the caller that there is nothing to poll at all.
                throw PluginError(
                    .io, "the events endpoint \(url)/\(target) no longer has part \(part) of its listing")
            }
            guard let json = answer, let things = json[name]?.array else {
                throw PluginError(.io, "the events endpoint \(url)/\(target) answered without \(name)")
            }
            for thing in things {
                guard let id = thing["ID"]?.string, !id.isEmpty else {
                    throw PluginError(.io, "the events endpoint \(url)/\(target) lists something without an ID")
                }
                all.append(Listed(id: id, entity: thing))
            }
            guard Self.isTrue(json["More"]) else { return all }
            guard !things.isEmpty else {
                throw PluginError(
                    .io, "the events endpoint \(url)/\(target) answered with an empty part of a listing")
            }
        }
        throw PluginError(.io, "the events endpoint \(url)/\(path) answered with an endless listing")
    }

    /// The greatest number of parts of a listing.
    private static let mostParts = 10_000

    /// A thing in a listing.
    public struct Listed: Sendable {
        /// The thing's id.
        public var id: String
        /// The thing.
        public var entity: JSON
    }

    /// Returns the error for a loop that must fetch everything from an endpoint without a listing. Such a loop neither
    /// removes records of which it cannot know that they are gone, nor goes on as if it had missed nothing.
    /// - Parameters:
    ///   - path: The path of the listing.
    ///   - what: The things that are out of date: `the calendars`.
    public func cannotList(_ path: String, _ what: String) -> PluginError {
        PluginError(
            .failed,
            "the events endpoint \(url) has no listing at \(path), so \(what) cannot be fetched again; "
                + "the records stay as they are"
        )
    }

    private func eventID(in json: JSON, _ name: String, _ path: String) throws(PluginError) -> String {
        guard let id = json[name]?.string, !id.isEmpty else {
            throw PluginError(.io, "the events endpoint \(url)/\(path) answered without the event id \(name)")
        }
        return id
    }

    /// Asks the endpoint. Nil: it does not know the event id in the path.
    private func ask(_ path: String) throws(PluginError) -> JSON? {
        var answer = try http.send("GET", "\(url)/\(path)", headers: [("Accept", "application/json")])
        let status = answer.status
        let body = try answer.body(atMost: 8 << 20)
        let json: JSON
        do throws(PluginError) { json = try JSON(parsing: body.span) } catch { json = .null }
        if json["Code"]?.integer == 2061 { return nil }
        if status == 404 { throw PluginError(.unsupported, "there is no events endpoint at \(url)/\(path)") }
        guard status == 200, case .object = json, json["Code"]?.integer ?? 1000 == 1000 else {
            throw PluginError(.io, "the events endpoint \(url)/\(path) answered \(status) and no page")
        }
        return json
    }

    private static func refresh(_ json: JSON?) -> RefreshSet {
        guard let number = json?.integer else { return json?.boolean == true ? .everything : [] }
        return (0...255).contains(number) ? RefreshSet(rawValue: UInt32(number)) : .everything
    }

    private static func isTrue(_ json: JSON?) -> Bool { json?.boolean ?? ((json?.integer ?? 0) > 0) }

    /// Percent-encodes an id as a segment of a path (RFC 3986, section 2.3).
    public static func escaped(_ id: String) -> String {
        var escaped = ""
        for byte in id.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                escaped.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return escaped
    }
}
