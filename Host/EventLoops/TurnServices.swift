import CLarder
import Connection
import Database
import Model
import PluginHost
import Synchronization
import Threads

/// The services of a plugin during a turn, backed by the database and the account's server. There is one value for each
/// call, or for several calls that are committed together.
///
/// The conformance is unchecked: apart from the wait, which is safe by itself, all members are used only on the
/// plugin's thread, between the begin and the end of the closure that created the value.
final class TurnServices: LoopTurn, @unchecked Sendable {
    private let loop: LoopKey
    private let plugin: PluginID
    /// The collection whose records each mean a loop of this kind; nil if the kind has only one loop.
    private let collection: RecordCollection?
    private let database: Database
    private let connection: Connection
    private let waiting: BlockingWait
    let deadline: Duration?

    /// The requests of the call, in order.
    private(set) var asked: [LoopAsk] = []
    /// The last error of the connection to the server.
    private(set) var problem: ConnectionError?
    /// The status 401 or 403 if the server answered with one of them; 401 takes precedence. Outside the account's
    /// files, the plugin receives such an answer itself.
    private(set) var refusal: Int?
    /// The status of the last answer.
    private(set) var lastStatus: Int?

    init(
        loop: LoopKey, plugin: PluginID, collection: RecordCollection?, database: Database, connection: Connection,
        waiting: BlockingWait, deadline: Duration
    ) {
        (self.loop, self.plugin, self.collection) = (loop, plugin, collection)
        (self.database, self.connection) = (database, connection)
        (self.waiting, self.deadline) = (waiting, deadline)
    }

    var isCancelled: Bool { waiting.isCancelled }

    func accept(_ asked: [LoopAsk]) {
        // Most turns are a single call, whose array is used as it is.
        if self.asked.isEmpty { self.asked = asked } else { self.asked += asked }
    }

    func mayWrite(_ key: RecordKey, in written: RecordCollection) -> Bool {
        LoopWriter(loop, of: plugin, for: collection).mayWrite(key, in: written)
    }

    // MARK: Storage

    func record(
        _ key: RecordKey, in collection: RecordCollection, _ fields: RecordFields
    ) throws(ServiceError) -> Record? {
        if let changed = asked.record(key, in: collection) { return changed }
        return try reading { try $0.records.record(key, in: collection, fields) }
    }

    func records(
        in collection: RecordCollection, after key: RecordKey?, _ fields: RecordFields
    ) throws(ServiceError) -> any RecordSource {
        RecordPages(collection: collection, after: key, fields: fields, database: database)
    }

    func value(for key: [UInt8]) throws(ServiceError) -> [UInt8]? {
        if let changed = asked.value(for: key) { return changed }
        let plugin = plugin
        return try reading { try $0.plugins.value(of: plugin, key: key) }
    }

    func valueSize(of key: [UInt8]?) throws(ServiceError) -> Int64 {
        let plugin = plugin
        return try reading { try $0.plugins.valueSize(of: plugin, key: key) }
    }

    func recordSize(of key: RecordKey?, in collection: RecordCollection?) throws(ServiceError) -> Int64 {
        let plugin = plugin
        return try reading { tx in
            guard let collection else { return try tx.records.size(keptBy: plugin) }
            return try tx.records.size(of: key, in: collection)
        }
    }

    private func reading<Value>(_ body: (ReadTransaction) throws -> Value) throws(ServiceError) -> Value {
        do { return try database.readBlocking(body) } catch { throw ServiceError(LARDER_IO, "\(error)") }
    }

    // MARK: Server

    func send(_ request: PlainRequest) throws(ServiceError) -> any PluginAnswer {
        let answer = try asking { [connection] in try await connection.loopRequests.exchange(request) }
        note(answer.status)
        return Answer(answer, of: self)
    }

    func send(_ request: MultistatusRequest, ahead isAhead: Bool) throws(ServiceError) -> any PluginDAVAnswer {
        let ask: @Sendable () async throws -> MultistatusAnswer = { [connection] in
            try await connection.loopRequests.multistatus(request)
        }
        if isAhead {
            // With a single connection, the request waits for the end of the previous answer, which is still being
            // read.
            return DAVAnswer(connection.most > 1 ? .sent(waiting.begin(ask)) : .unsent(ask), of: self)
        }
        let answer = try asking(ask)
        note(answer.status)
        return DAVAnswer(.there(answer), of: self)
    }

    fileprivate func note(_ status: Int) {
        lastStatus = status
        if status == 401 || status == 403 && refusal == nil { refusal = status }
    }

    func homes(of name: String) throws(ServiceError) -> DAVHomes {
        if name == "files" {
            guard let home = connection.filesHome else {
                throw ServiceError(LARDER_UNSUPPORTED, "the server keeps no files")
            }
            return DAVHomes(principal: nil, homes: [home])
        }
        guard let service = DAVService(rawValue: name) else {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "no service \(name)")
        }
        let answer = try asking { [connection] () async throws -> DAVHomes?? in
            do {
                return .some(try await connection.loopRequests.discover(service))
            } catch let error as ConnectionError {
                guard error.kind == .notFound else { throw error }
                return nil
            }
        }
        guard let answer else { throw ServiceError(LARDER_NOT_FOUND, "the server does not offer it for now") }
        guard let found = answer else { throw ServiceError(LARDER_UNSUPPORTED, "the server does not offer it") }
        return found
    }

    /// Sends a request and waits for the server. An error of the connection is kept as the loop's failure and is
    /// reported once.
    fileprivate func asking<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) throws(ServiceError) -> Value {
        try awaiting(waiting.begin(body))
    }

    fileprivate func awaiting<Value: Sendable>(_ work: BlockingWait.Work<Value>) throws(ServiceError) -> Value {
        do {
            return try work.wait()
        } catch {
            if isCancelled { throw ServiceError(LARDER_CANCELLED, "the call is to end") }
            guard let error = error as? ConnectionError else { throw ServiceError(LARDER_INTERNAL, "\(error)") }
            (problem, lastStatus) = (error, nil)
            if error.kind == .badRequest { throw ServiceError(LARDER_DENIED, error.message) }
            throw ServiceError(LARDER_IO, error.message)
        }
    }

    private final class Answer: PluginAnswer {
        private let answer: PlainAnswer
        private let services: TurnServices

        init(_ answer: PlainAnswer, of services: TurnServices) {
            self.answer = answer
            self.services = services
        }

        var status: Int { answer.status }
        func header(_ name: String) -> String? { answer.header(name) }
        func next() throws(ServiceError) -> [UInt8]? {
            try services.asking { [answer] in try await answer.next() }
        }
    }

    private final class DAVAnswer: PluginDAVAnswer {
        enum State {
            /// A request that was sent ahead; nothing waits for its answer yet.
            case sent(BlockingWait.Work<MultistatusAnswer>)
            case unsent(@Sendable () async throws -> MultistatusAnswer)
            case there(MultistatusAnswer)
            case failed(ServiceError)
        }

        private var state: State
        private let services: TurnServices
        /// The responses that were read and not handed out yet, the next one last.
        private var waiting: [MultistatusResponse] = []
        private(set) var end: MultistatusEnd?

        init(_ state: State, of services: TurnServices) {
            self.state = state
            self.services = services
        }

        var status: Int { if case .there(let answer) = state { answer.status } else { 0 } }

        func next() throws(ServiceError) -> MultistatusResponse? {
            if waiting.isEmpty, end == nil {
                let answer = try answer()
                // This takes all responses that have arrived. Waiting for each would change threads for each.
                let (responses, end) = try services.asking { (try await answer.some(), await answer.end) }
                waiting = responses.reversed()
                if responses.isEmpty { self.end = end }
            }
            return waiting.popLast()
        }

        /// Returns the answer as soon as its head has arrived.
        private func answer() throws(ServiceError) -> MultistatusAnswer {
            do throws(ServiceError) {
                let answer =
                    switch state {
                    case .sent(let work): try services.awaiting(work)
                    case .unsent(let ask): try services.asking(ask)
                    case .there(let answer): answer
                    case .failed(let error): throw error
                    }
                if case .there = state { return answer }
                services.note(answer.status)
                state = .there(answer)
                return answer
            } catch {
                state = .failed(error)
                throw error
            }
        }
    }
}

/// A source that reads a collection one page at a time, so that no transaction stays open while a plugin waits for a
/// server. The collection does not change meanwhile: its only writer is the turn, whose own changes are not committed
/// yet.
private final class RecordPages: RecordSource {
    private static let pageSize = 500

    private let collection: RecordCollection
    private let fields: RecordFields
    private let database: Database
    private var after: RecordKey?
    private var page: [Record] = []
    private var isLast = false

    init(collection: RecordCollection, after: RecordKey?, fields: RecordFields, database: Database) {
        (self.collection, self.after, self.fields, self.database) = (collection, after, fields, database)
    }

    func next() throws(ServiceError) -> Record? {
        if page.isEmpty, !isLast {
            // Contents may be long.
            let size = fields.contains(.content) ? 16 : Self.pageSize
            var read: [Record] = []
            do {
                try database.readBlocking { tx in
                    try tx.records.each(in: collection, after: after, fields) { record in
                        read.append(record)
                        return read.count < size
                    }
                }
            } catch {
                throw ServiceError(LARDER_IO, "\(error)")
            }
            isLast = read.count < size
            after = read.last?.key ?? after
            page = read.reversed()
        }
        return page.popLast()
    }
}
