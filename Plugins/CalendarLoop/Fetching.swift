import LarderSDK

/// The fetch of a calendar's objects in one call, up to a limit in size.
struct Fetching {
    /// The size of the contents in bytes after which a call ends, so that a page stays small.
    static let enough = 4 << 20
    /// The greatest size in bytes of an object's content. A larger object gets a record without content.
    private static let largest = 8 << 20
    /// The number of failures, without a success, that means that the server has failed.
    private static let mostFailures = 5
    /// The number of objects in a row without an answer that means that the server is away.
    private static let mostUnanswered = 3

    let exchange: Exchange
    private(set) var records: [Record] = []
    private(set) var gone: [String] = []
    /// Whether some objects were not asked for.
    private(set) var isPartial = false
    /// The objects that were not asked for, if ``isPartial``.
    private(set) var left: [Member] = []
    /// The objects for which the server has an error.
    private(set) var failed: [String] = []
    private(set) var tooLarge: [String] = []
    private var bytes = 0
    private var hasMultiget = true
    private var batchSize = BatchSize()
    /// The size in bytes of the contents of the last request. 0: no request has succeeded yet.
    private var lastBatch = 0
    /// The objects that the server's answer to a request for many omits, or names without their content. Each is asked
    /// for with a `GET`.
    private var omitted: [Member] = []
    /// The status with which the server refused an object, or a request for one, last.
    private var refusal: Int?
    /// The number of objects in a row for which the server closed the connection.
    private var unanswered = 0
    /// Whether the calendar may be gone, so that its objects are not taken for gone one by one.
    private var isCalendarDoubtful = false
    /// The size in bytes of the contents that came and were not kept.
    private var wasted = 0

    init(_ exchange: Exchange) { self.exchange = exchange }

    /// Keeps contents that came with a listing, as long as there is room.
    /// - Returns: Whether there were contents, and they are kept.
    /// - Throws: ``Status/limit`` if so much comes without room for it that another way is better.
    mutating func take(_ response: DAVResponse) throws(PluginError) -> Bool {
        guard let data = response.values[1], !data.isEmpty else { return false }
        guard bytes < Self.enough else {
            wasted += data.utf8.count
            guard wasted < 4 * Self.enough else {
                throw PluginError(.limit, "the listing has more contents than there is room for")
            }
            return false
        }
        keep(response.href, etag: response.values[0], Self.withLineEnds(data))
        return true
    }

    /// Hands out the fetched records and forgets them, so that the caller can free them one by one.
    mutating func handOver() -> [Record] {
        defer { records = [] }
        return records
    }

    /// Drops the fetched records of these objects.
    mutating func forget(_ hrefs: Set<String>) { records.removeAll { hrefs.contains($0.key) } }

    /// The objects of one request.
    private struct Batch: ~Copyable {
        let members: ArraySlice<Member>
        var answer: DAVAnswer
        /// The objects of which nothing came yet, with their ETags in the listing.
        var pending: [String: String?] = [:]
    }

    /// Fetches objects in batches (RFC 4791, section 7.9), or one by one if the server does not support that. A batch
    /// that the server refuses, or does not answer, as some do with more objects than they have time or room for, is
    /// halved.
    ///
    /// Once the server has shown that it supports batches, the next batch is requested before the current one is read,
    /// so that both sides work at the same time: at most two requests are in progress. When an answer cannot be read to
    /// its end, because of a byte in one of the objects that XML does not allow, the rest of it is requested object by
    /// object. So are objects that an answer omits.
    /// - Parameter isLate: Tells whether the call has taken long enough.
    mutating func fetch(
        _ members: [Member], until isLate: () throws(PluginError) -> Bool
    ) throws(PluginError) {
        var rest = members[...]
        var ahead: Batch?
        /// The index of the first member of the batch that was requested ahead.
        var start = rest.startIndex
        var mayAskAhead = true
        /// The objects that are requested one by one.
        var single: ArraySlice<Member> = []
        while ahead != nil || !rest.isEmpty || !single.isEmpty || !omitted.isEmpty {
            guard bytes < Self.enough, try !isLate() else {
                isPartial = true
                left += omitted + single + (ahead == nil ? rest : members[start...])
                return
            }
            // An answer in progress is read first: the server may take one request at a time.
            if ahead == nil, !omitted.isEmpty {
                let member = omitted.removeFirst()
                try get(member)
                try expectSome()
                continue
            }
            if !single.isEmpty {
                try fetchAlone(&single)
                continue
            }
            guard hasMultiget else {
                try get(rest.removeFirst())
                try expectSome()
                continue
            }
            let wasAhead = ahead != nil
            var batch: Batch
            if let next = ahead.take() {
                batch = next
            } else {
                do throws(PluginError) { batch = try ask(for: &rest) } catch {
                    // Some servers close the connection when they have no time or room for so many.
                    let count = min(rest.count, batchSize.count)
                    guard error.status == .io, count > 1 || lastBatch > 0, try !isLate() else { throw error }
                    try askForFewer(than: count, of: &rest)
                    continue
                }
            }
            if mayAskAhead, lastBatch > 0, bytes + lastBatch < Self.enough, !rest.isEmpty {
                start = rest.startIndex
                ahead = try ask(for: &rest, isAhead: true)
            }
            var meaning = Meaning.done
            do throws(PluginError) { meaning = try read(&batch) } catch {
                if error.status == .io, batch.answer.status == 207 {
                    ahead = nil
                    single = batch.members.filter { batch.pending.keys.contains($0.href) }[...]
                    rest = members[batch.members.endIndex...]
                    continue
                }
                guard wasAhead, error.status == .io, batch.answer.status == 0 else { throw error }
                // Some servers take one request at a time. If the cause is another one, the next request fails again.
                mayAskAhead = false
                ahead = nil
                rest = members[batch.members.startIndex...]
            }
            guard meaning == .refused else { continue }
            ahead = nil
            rest = members[batch.members.startIndex...]
            if hasMultiget { try askForFewer(than: batch.members.count, of: &rest) }
        }
        // A broken object does not stop the others. If no object can be fetched, the server has failed.
        guard hasMultiget || failed.count < 2 || !records.isEmpty || !gone.isEmpty else {
            throw failure("errors for")
        }
    }

    /// Notes that the server refused a request for so many objects. One object is requested with a `GET`.
    private mutating func askForFewer(than count: Int, of rest: inout ArraySlice<Member>) throws(PluginError) {
        batchSize.refused(count, worked: lastBatch > 0)
        guard count == 1 else { return }
        hasMultiget = !batchSize.isHopeless
        try get(rest.removeFirst())
        try expectSome()
    }

    private func ask(for rest: inout ArraySlice<Member>, isAhead: Bool = false) throws(PluginError) -> Batch {
        let members = rest.prefix(batchSize.count)
        let body =
            #"<?xml version="1.0" encoding="utf-8"?>"#
            + #"<C:calendar-multiget xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">"#
            + "<prop><getetag/><C:calendar-data/></prop>"
            + members.map { "<href>\($0.href.escapedForXML)</href>" }.joined() + "</C:calendar-multiget>"
        let answer = try exchange.dav.report(
            exchange.calendar, depth: 1, body: body, [Exchange.Property.etag, Exchange.Property.data], isAhead: isAhead)
        rest = rest.dropFirst(members.count)
        var batch = Batch(members: members, answer: answer)
        for member in members { batch.pending.updateValue(member.etag, forKey: member.href) }
        return batch
    }

    /// Fetches one object with a request of its own, so that another object's bytes do not prevent it.
    private mutating func fetchAlone(_ members: inout ArraySlice<Member>) throws(PluginError) {
        var one = members.prefix(1)
        members = members.dropFirst()
        var batch = try ask(for: &one)
        do throws(PluginError) {
            if try read(&batch) == .done { return }
        } catch {
            guard error.status == .io, batch.answer.status == 207 else { throw error }
        }
        failed += batch.members.map(\.href)
        try expectSome()
    }

    /// Throws if many objects failed and none succeeded.
    private func expectSome() throws(PluginError) {
        guard failed.count < Self.mostFailures || !records.isEmpty || !gone.isEmpty else {
            throw failure("errors or unreadable data for")
        }
    }

    private func failure(_ what: String) -> PluginError {
        if let refusal { return exchange.refusal(refusal) }
        return exchange.failure("\(what) \(failed[0]) and \(failed.count - 1) others")
    }

    /// The meaning of the answer to a request for objects.
    private enum Meaning { case done, refused }

    /// Reads a batch's answer, and notes if the server does not support the report.
    private mutating func read(_ batch: inout Batch) throws(PluginError) -> Meaning {
        let before = bytes
        while let response = try batch.answer.next() {
            guard let listed = batch.pending[response.href] else { continue }
            // What came without its content stays pending, and is asked for alone.
            if response.status == 200, response.values[1] == nil { continue }
            batch.pending[response.href] = nil
            if response.status == 404 || response.status == 410 {
                gone.append(response.href)
            } else if response.status == 200, let data = response.values[1] {
                keep(response.href, etag: response.values[0] ?? listed, Self.withLineEnds(data))
            } else {
                failed.append(response.href)
            }
            if bytes >= Self.enough, !batch.pending.isEmpty {
                isPartial = true
                left += batch.members.filter { batch.pending.keys.contains($0.href) }
                return .done
            }
        }
        switch batch.answer.status {
        case 207: omitted += batch.members.filter { batch.pending.keys.contains($0.href) }
        case 401: throw exchange.refusal(401)
        case 404, 410:
            refusal = batch.answer.status
            guard batch.members.count > 1 || lastBatch > 0 else { throw exchange.refusal(batch.answer.status) }
            isCalendarDoubtful = true
            return .refused
        case 403:
            refusal = 403
            if try batch.answer.end().errors.contains("{DAV:}supported-report") { hasMultiget = false }
            return .refused
        case 405, 415, 501:
            hasMultiget = false
            return .refused
        default: return .refused
        }
        lastBatch = max(1, bytes - before)
        return .done
    }

    private mutating func get(_ member: Member) throws(PluginError) {
        var answer: HTTPAnswer
        do throws(PluginError) { answer = try exchange.http.send("GET", member.href) } catch {
            unanswered += 1
            guard error.status == .io, unanswered < Self.mostUnanswered else { throw error }
            failed.append(member.href)
            return
        }
        unanswered = 0
        switch answer.status {
        case 200:
            var content: [UInt8] = []
            while content.count <= Self.largest, let chunk = try answer.next() { content += chunk }
            keep(member.href, etag: answer.header("ETag") ?? member.etag, content)
        case 404 where !isCalendarDoubtful, 410 where !isCalendarDoubtful: gone.append(member.href)
        default:
            if [403, 404, 410].contains(answer.status) { refusal = answer.status }
            failed.append(member.href)
        }
    }

    private mutating func keep(_ href: String, etag: String?, _ content: [UInt8]) {
        bytes += content.count
        guard content.count <= Self.largest else {
            tooLarge.append(href)
            records.append(Record(key: href, version: etag ?? "", value: "{}"))
            return
        }
        let value = Self.value(of: content.span)
        records.append(Record(key: href, version: etag ?? "", value: value, content: content))
    }

    /// Returns the JSON value of an object's record, for programs.
    static func value(of content: Span<UInt8>) -> String {
        let entry = CalendarEntry(parsing: content)
        let value = JSON.object(of: [
            "uid": entry?.uid.map { .string($0) }, "component": entry.map { .string($0.component) },
            "summary": entry?.summary.map { .string($0) }, "start": entry?.start.map { .string($0) },
            "end": entry?.end.map { .string($0) }, "rrule": entry?.rrule.map { .string($0) },
        ])
        return value.text
    }

    /// Returns a text with CRLF line ends. XML turns CRLF into a line feed (XML 1.0, section 2.11), but iCalendar's
    /// lines end with CRLF.
    private static func withLineEnds(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + text.utf8.count / 32)
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\n"), bytes.last != UInt8(ascii: "\r") { bytes.append(UInt8(ascii: "\r")) }
            bytes.append(byte)
        }
        return bytes
    }
}
