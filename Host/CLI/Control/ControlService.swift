import Core
import FoundationEssentials
import Model

/// The answers on the control socket of a running host.
struct ControlService: Sendable {
    /// The time between two signs of life in an answer that is a stream. They come whatever the answer waits for.
    static let signInterval = Duration.seconds(3)

    let hosting: Hosting

    /// Answers a request. The work ends when the client closes the connection before.
    /// - Throws: a failure of the connection.
    func answer(_ read: Result<ControlMessage, Failure>, on connection: ControlConnection) async throws {
        if case .success(let message) = read {
            switch try? ControlRequest(message) {
            case .query(let query, let refreshes, let name):
                return try await follow(query, refreshes: refreshes, in: name, message.fields, on: connection)
            case .changes(let position, let name):
                return try await tellChanges(behind: position, in: name, message.fields, on: connection)
            default: break
            }
        }
        let isStream = (try? read.get())?.fields["accept"]?.contains("text/event-stream") ?? false
        let (events, feed) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(8))
        let tell: @Sendable (Event) -> Void = { event in
            // What says that there are calls is said once until they are taken.
            if case .dropped(let old) = feed.yield(event), case .calls = old { feed.yield(old) }
        }
        let work = Task {
            do throws(Failure) {
                tell(.answer(try await answer(Asked(try read.get()), tell)))
            } catch {
                tell(.failure(error))
            }
            feed.finish()
        }
        let watch = Task {
            try await connection.untilGone()
            work.cancel()
        }
        let signs = Task { [clock = hosting.options.clock] in
            while isStream {
                try await clock.sleep(Self.signInterval)
                tell(.sign)
            }
        }
        defer {
            work.cancel()
            watch.cancel()
            signs.cancel()
        }
        guard isStream else {
            for await event in events where event.isWhole {
                return try await connection.answer(event.status, event.data)
            }
            return
        }
        try await connection.beginEvents()
        for await event in events {
            let text = event.text
            if !text.isEmpty { try await connection.send(text) }
        }
        try await connection.endEvents()
    }

    /// An event of an answer.
    private enum Event {
        case progress(TransferProgress)
        /// What goes on in a watched account. If the client is slow, only the newest ones are kept.
        case status([UInt8])
        /// The plugin whose calls are told from now on.
        case traced([UInt8])
        /// Calls that are taken when there is room for them, so that a slow client keeps little in memory.
        case calls(LiveTrace)
        case answer([UInt8])
        case failure(Failure)
        /// A sign that the host lives.
        case sign

        private var name: String {
            switch self {
            case .progress: "progress"
            case .status: "status"
            case .traced: "traced"
            case .calls: "call"
            case .answer: "answer"
            case .failure: "error"
            case .sign: ""
            }
        }

        /// The event in a stream of events. A sign of life is a comment there.
        var text: [UInt8] {
            switch self {
            case .sign: Array(":\n\n".utf8)
            case .calls(let trace): trace.take().flatMap { text(Array($0.utf8)) }
            default: text(data)
            }
        }

        private func text(_ data: [UInt8]) -> [UInt8] { Array("event: \(name)\ndata: ".utf8) + data + [10, 10] }

        var status: String { if case .failure(let failure) = self { failure.kind.status } else { "200 OK" } }

        /// Whether this is all that is told to a client that takes no stream.
        var isWhole: Bool {
            switch self {
            case .progress, .calls, .sign: false
            case .status, .traced, .answer, .failure: true
            }
        }

        /// The event's JSON, in one line.
        var data: [UInt8] {
            switch self {
            case .progress(let progress): Array(JSONValue(progress).text.utf8)
            case .answer(let bytes), .status(let bytes), .traced(let bytes): bytes
            case .failure(let failure): Array(JSONValue(error: failure).text.utf8)
            case .calls, .sign: []
            }
        }
    }

    /// A request that makes sense.
    private struct Asked: Sendable {
        let request: ControlRequest
        let fields: [String: String]
        let body: [UInt8]

        init(_ message: ControlMessage) throws(Failure) {
            request = try ControlRequest(message)
            (fields, body) = (message.fields, message.body)
        }
    }

    private func answer(
        _ asked: Asked, _ tell: @escaping @Sendable (Event) -> Void
    ) async throws(Failure) -> [UInt8] {
        try Self.checkVersion(asked.fields)
        switch asked.request {
        case .host: return Array(JSONValue(hosting).text.utf8)
        case .reload: return Array(JSONValue(try await hosting.reload()).text.utf8)
        case .account(let name):
            guard let phase = hosting.phases[name] else { throw hosting.noAccount(name) }
            try check(asked.fields[ControlField.account], of: name)
            return Array(JSONValue(phase, account: name).text.utf8)
        case .watch(let name):
            try await hosting.watch(name) { told throws(Failure) in tell(.status(try ControlCoding.encode(told))) }
        case .trace(let plugin, let account):
            try await trace(plugin, account, tell)
        case .query, .changes: throw Failure(.internal, "a query is answered as a stream")
        case .command(let name, let account):
            guard let command = AccountCommands.all.first(where: { $0.name == name }) else {
                throw Failure(.notFound, "there is no command `\(name)`")
            }
            // The host of an account that has just been started is asked as soon as it can answer.
            do { try await hosting.untilOpened(account) } catch { throw Failure(.failed, "the command was cancelled") }
            let host = try host(of: account, as: asked.fields[ControlField.account])
            return try await Self.carryOut(command, asked.body, for: host) { tell(.progress($0)) }
        }
    }

    static func checkVersion(_ fields: [String: String]) throws(Failure) {
        guard let version = fields[ControlField.version], version != Product.version else { return }
        throw Failure(
            .vaultLocked, "the host that runs is Larder \(Product.version), this command is Larder \(version)",
            hint: "restart the host, or use the command that belongs to it")
    }

    /// Tells the calls into a plugin, until the task is cancelled.
    /// - Throws: `notFound` if there is no such plugin or account, or no more; `failed` if the task is cancelled.
    private func trace(
        _ plugin: String, _ account: String, _ tell: @escaping @Sendable (Event) -> Void
    ) async throws(Failure) -> Never {
        let report = try await hosting.pluginReports().named(plugin)
        let trace = LiveTrace(of: report.id, in: account, hosting.options) { tell(.calls($0)) }
        defer { trace.end() }
        tell(.traced(Array(JSONValue(report).text.utf8)))
        try await hosting.untilGone(account)
    }

    /// Returns an account at work.
    /// - Parameter digest: the digest of the account's part of the config that the client has read; nil if it has read
    ///   none.
    func host(of account: String, as digest: String?) throws(Failure) -> AccountHost {
        guard let phase = hosting.phases[account] else { throw hosting.noAccount(account) }
        try check(digest, of: account)
        if let host = phase.host { return host }
        if let failure = phase.failure { throw failure }
        throw Failure(
            .failed, "the account `\(account)` is not at work now: \(phase.status)",
            hint: "try again, or see `larder status`")
    }

    func check(_ digest: String?, of account: String) throws(Failure) {
        guard let digest, digest != hosting.digest(of: account) else { return }
        throw Failure(
            .vaultLocked, "the config has changed for the account `\(account)` since the host has read it",
            hint: hosting.hint(for: account))
    }

    private static func carryOut<Command: AccountCommand>(
        _ type: Command.Type, _ body: [UInt8], for host: AccountHost,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws(Failure) -> [UInt8] {
        let command = try ControlCoding.decode(type, from: body)
        return try ControlCoding.encode(try await host.perform(command, progress: progress))
    }
}

extension Hosting {
    func noAccount(_ name: String) -> Failure {
        Failure(.notFound, "the host that runs has no account `\(name)`", hint: hint(for: name))
    }
}
