/// An events endpoint in plain JSON: the newest event id, and pages of what happened after one.
///
/// A page is `{"EventID": "…", "Refresh": 0, "More": 0, …}`. `Refresh` may be a boolean, a number or a mask, `More` a boolean or a number;
/// members that nobody knows are passed over.
public struct EventFeed {
    private let http: Host.HTTP
    private let url: String

    /// - Parameter url: of the endpoint, at the account's server: a path or a whole address.
    public init(_ http: Host.HTTP, url: String) {
        self.http = http
        self.url = url.utf8.last == UInt8(ascii: "/") ? String(url.dropLast()) : url
    }

    /// One page of what happened.
    public struct Page: Sendable {
        public var eventID: String
        public var refresh: RefreshSet
        public var more: Bool
        /// All of the page.
        public var json: JSON

        /// What happened to things of a kind, oldest first; what is malformed is passed over.
        /// - Parameters:
        ///   - name: the array's: `Calendars`.
        ///   - entity: the member that has the thing: `Calendar`.
        public func changes(_ name: String, entity: String) -> [Change] {
            (json[name]?.array ?? []).compactMap { change in
                guard let id = change["ID"]?.string, !id.isEmpty, let action = change["Action"]?.integer else {
                    return nil
                }
                return Change(id: id, isDelete: action == 0, entity: change[entity])
            }
        }
    }

    /// What happened to one thing.
    public struct Change: Sendable {
        public var id: String
        /// Otherwise it came or changed.
        public var isDelete: Bool
        /// What it is now; nil where the page does not say.
        public var entity: JSON?
    }

    /// The newest event id.
    /// - Parameters:
    ///   - path: below the endpoint's address: `core/v4/events/latest`.
    ///   - name: the member that has the event id.
    /// - Throws: ``Status/unsupported`` if there is no such endpoint, ``Status/io`` if it answers without an event id,
    ///   ``Status/limit`` if the answer is longer than 8 MiB, and what ``Host/HTTP/send(_:_:headers:body:)`` throws.
    public func latest(_ path: String, name: String = "EventID") throws(PluginError) -> String {
        guard let json = try ask(path) else { throw PluginError(.io, "the events endpoint \(url)/\(path) refuses") }
        return try eventID(in: json, name, path)
    }

    /// The page after an event id; nil if that is of no use any more, and everything is to be fetched anew.
    /// - Parameter path: below the endpoint's address, without the id: `core/v5/events`.
    /// - Throws: As ``latest(_:name:)``.
    public func page(_ path: String, since id: String, name: String = "EventID") throws(PluginError) -> Page? {
        guard let json = try ask("\(path)/\(Self.escaped(id))") else { return nil }
        return Page(
            eventID: try eventID(in: json, name, path), refresh: Self.refresh(json["Refresh"]),
            more: Self.isTrue(json["More"]), json: json)
    }

    /// All things of a kind, in as many parts as the endpoint makes of them; nil: it has no such listing.
    /// - Parameters:
    ///   - path: below the endpoint's address: `calendar/v1`.
    ///   - name: the array's: `Calendars`.
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
                // With this status the caller would say that there is nothing to poll at all.
                throw PluginError(
                    .io, "the events endpoint \(url)/\(target) has no part \(part) of its listing any more")
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
                    .io, "the events endpoint \(url)/\(target) gives a part of a listing with nothing in it")
            }
        }
        throw PluginError(.io, "the events endpoint \(url)/\(path) gives a listing without an end")
    }

    /// Of a listing.
    private static let mostParts = 10_000

    /// Something that is there, as a listing has it.
    public struct Listed: Sendable {
        public var id: String
        public var entity: JSON
    }

    /// What a loop fails with that is to fetch everything, where the endpoint has no listing: it neither drops what it cannot know to be
    /// gone nor goes on as if nothing had been missed.
    /// - Parameter what: is out of date: `the calendars`.
    public func cannotList(_ path: String, _ what: String) -> PluginError {
        PluginError(
            .failed,
            "the events endpoint \(url) has no listing at \(path), and without one \(what) cannot be fetched anew: what is kept stays as it is"
        )
    }

    private func eventID(in json: JSON, _ name: String, _ path: String) throws(PluginError) -> String {
        guard let id = json[name]?.string, !id.isEmpty else {
            throw PluginError(.io, "the events endpoint \(url)/\(path) answered without the event id \(name)")
        }
        return id
    }

    /// Nil: the event id in the path is none.
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

    /// As a segment of a path (RFC 3986, section 2.3).
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
