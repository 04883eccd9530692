import CLarder
import LarderFakeHost
import Model
import PluginHost

/// One turn of an event loop, in the order of ext/event-loop.h.
final class FakeTurn: LoopTurn {
    private let host: FakeHost
    private let loop: LoopID
    private let offer: LoopOffer
    private let writer: LoopWriter
    private(set) var asked: [LoopAsk] = []
    private let mark: [UInt32: Int]

    init(_ host: FakeHost, _ loop: LoopID, _ offer: LoopOffer) {
        (self.host, self.loop, self.offer) = (host, loop, offer)
        writer = LoopWriter(LoopKey(kind: offer.kind, id: loop), of: host.plugin, for: offer.collection)
        mark = host.journal.mark
        host.loop = loop.text
    }

    /// Makes the calls of the turn.
    /// - Returns: `LARDER_OK` after a commit, and else the status of the failure.
    func perform(_ calls: LoopCalls) -> larder_status {
        guard let since = host.eventIDs[loop.text] else {
            report(.missingID, LARDER_OK, "there is no event id", calls)
            return refresh(LARDER_REFRESH_EVERYTHING, since: nil, calls)
        }
        let page: LoopPage
        do throws(LoopFailure) {
            page = try called("poll", 0) { () throws(LoopFailure) in try calls.poll(since: since, self) }
        } catch { return error.isNotOffered ? error.status : fail(.pollFailed, error, calls) }
        guard let next = page.eventID else {
            release(page, calls)
            report(.outdated, LARDER_OK, "the cache is too old", calls)
            return refresh(page.refresh, since: since, calls)
        }
        do throws(LoopFailure) {
            defer { release(page, calls) }
            try called("process", 0) { () throws(LoopFailure) in try calls.process(page, since: since, self) }
        } catch { return fail(.processing, error, calls) }
        return commit(next, more: page.more, since: since, calls)
    }

    private func refresh(_ asked: UInt32, since: EventID?, _ calls: LoopCalls) -> larder_status {
        let known = offer.refreshBits
        let bits = asked & ~known == 0 ? asked : known
        let parts =
            known == 0
            ? [LARDER_REFRESH_EVERYTHING] : (0..<8).map { UInt32(1) << $0 }.filter { known & bits & $0 != 0 }
        var anchor: EventID?
        var more = false
        for what in parts {
            do throws(LoopFailure) {
                let page = try called("refresh", what) { () throws(LoopFailure) in
                    try calls.refresh(what, since: since, self)
                }
                defer { release(page, calls) }
                guard let id = page.eventID else {
                    throw LoopFailure(status: LARDER_FAILED, message: "a refresh asks for a refresh")
                }
                if anchor == nil {
                    anchor = id
                    more = page.more && what == LARDER_REFRESH_EVERYTHING
                }
            } catch {
                guard !error.isNotOffered else {
                    forgetRequests()
                    return error.status
                }
                return fail(.pollFailed, error, calls)
            }
        }
        guard let anchor else { return LARDER_UNSUPPORTED }
        return commit(anchor, more: more, since: since, calls)
    }

    /// Commits a turn, all of it or nothing.
    private func commit(_ next: EventID, more: Bool, since: EventID?, _ calls: LoopCalls) -> larder_status {
        if let status = host.failure(of: "commit") {
            return fail(.processing, LoopFailure(status: status, message: "the commit failed"), calls)
        }
        keep()
        let repeats = more && since == next
        host.eventIDs[loop.text] = next
        host.hasMore = more && !(repeats && host.repeating.contains(loop.text))
        if repeats { host.repeating.insert(loop.text) } else { host.repeating.remove(loop.text) }
        guard more, !host.hasMore else { return LARDER_OK }
        report(.noProgress, LARDER_FAILED, "there is more, with the same event id", calls)
        return LARDER_FAILED
    }

    private func fail(_ code: LoopReport.Code, _ failure: LoopFailure, _ calls: LoopCalls) -> larder_status {
        // The plugin's own status may be one that the host does not know.
        let status = host.lastStatus == LARDER_OK ? failure.status : host.lastStatus
        forgetRequests()
        report(code, status, failure.message, calls)
        return status
    }

    private func report(_ code: LoopReport.Code, _ status: larder_status, _ message: String, _ calls: LoopCalls) {
        do throws(LoopFailure) {
            try called("on_error", code.rawValue) { () throws(LoopFailure) in
                try calls.onError(
                    LoopReport(code: code, status: status, message: message), since: host.eventIDs[loop.text], self)
            }
        } catch { host.journal.mistake("on_error", error.status) }
    }

    private func release(_ page: LoopPage, _ calls: LoopCalls) {
        let status = host.lastStatus
        host.number = 0
        calls.release(page)
        host.lastStatus = status
    }

    /// Makes a call with the number of its entry. A page that cannot be used is a mistake.
    private func called<Result>(
        _ name: String, _ number: UInt32, _ body: () throws(LoopFailure) -> Result
    ) throws(LoopFailure) -> Result {
        host.number = number
        do throws(LoopFailure) { return try body() } catch {
            if host.lastStatus == LARDER_OK, !error.isOverQuota { host.journal.mistake(name, LARDER_INVALID_ARGUMENT) }
            throw error
        }
    }

    private func forgetRequests() {
        asked.removeAll()
        host.journal.dropRequests(after: mark)
    }

    private func keep() {
        for ask in asked {
            switch ask {
            case .value(let key, let value): host.values[key] = value
            case .record(.put(let record, let collection)): host.records.put(record, in: collection)
            case .record(.remove(let key, let collection)): host.removeRecord(key, from: collection, loops: offer)
            case .requestListing: break
            }
        }
    }

    // MARK: The turn's services

    var isCancelled: Bool { host.isCancelled }
    var deadline: Duration? { nil }

    func accept(_ asked: [LoopAsk]) {
        self.asked += asked
        host.journal.add(asked)
    }

    func mayWrite(_ key: RecordKey, in collection: RecordCollection) -> Bool {
        writer.mayWrite(key, in: collection)
    }

    func value(for key: [UInt8]) -> [UInt8]? {
        if let changed = asked.value(for: key) { return changed }
        return host.values[key]
    }

    func valueSize(of key: [UInt8]?) -> Int64 { host.valueSize(of: key) }

    func record(_ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields) -> Record? {
        if let changed = asked.record(key, in: collection) { return changed }
        return host.record(key, in: collection, fields)
    }

    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) -> any RecordSource { host.records(in: collection, after: key, fields) }

    func recordSize(of key: RecordKey?, in collection: RecordCollection?) -> Int64 {
        guard let collection else { return host.records.size }
        guard let key else { return host.records.all(in: collection).reduce(0) { $0 + $1.size } }
        return host.records[key, collection]?.size ?? 0
    }

    func send(_ request: PlainRequest) throws(ServiceError) -> any PluginAnswer {
        guard request.problem == nil else { throw ServiceError(LARDER_DENIED, "the request is not sent") }
        let found = try host.answer(
            "http.open", isDAV: false, request.method, request.target, depth: 0,
            body: request.body.isEmpty ? nil : request.body)
        if let status = found.failure { throw ServiceError(status, "the test's answer") }
        return FakeAnswer(found, of: host)
    }

    func send(_ request: MultistatusRequest, ahead isAhead: Bool) throws(ServiceError) -> any PluginDAVAnswer {
        let found = try host.answer(
            "dav.open", isDAV: true, request.method, request.target, depth: request.depth == .zero ? 0 : 1,
            body: request.body)
        if !isAhead, let status = found.failure { throw ServiceError(status, "the test's answer") }
        return FakeDAVAnswer(found, asking: request.properties, isAhead: isAhead, of: host)
    }

    func homes(of service: String) throws(ServiceError) -> DAVHomes {
        switch service {
        case "files":
            guard let home = host.server.filesHome else {
                throw ServiceError(LARDER_UNSUPPORTED, "the server keeps no files")
            }
            return DAVHomes(principal: nil, homes: [home])
        case "caldav", "carddav":
            host.journal.add(LARDER_FAKE_REQUEST, Journal.Entry(name: "discover", path: service))
            guard let homes = host.server.homes[service] else {
                throw ServiceError(LARDER_UNSUPPORTED, "the server does not offer it")
            }
            return homes
        default: throw ServiceError(LARDER_INVALID_ARGUMENT, "no service \(service)")
        }
    }
}
