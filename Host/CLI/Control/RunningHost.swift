import Core
import FoundationEssentials
import HTTP
import Model
import Synchronization
import Threads

/// A running host, as another process reaches it over its control socket.
struct RunningHost: Hashable, Sendable {
    /// The absolute path of the host's socket.
    let socket: String

    init(socket: String) { self.socket = socket }

    /// Finds the host that runs an account: the one that has the vault open, as the vault's lock says; where nothing
    /// says so, as in the place of a vault that is not mounted, one that has read the config.
    /// - Parameters:
    ///   - config: the absolute path of the config; nil searches for no host that has read it.
    ///   - evenWaiting: whether a host is found too that waits for the account, since another process has the vault
    ///     open, or the tree is away.
    /// - Returns: nil if the last process that had the vault open takes no commands. A host that has ended is found too;
    ///   see ``ask(_:body:fields:clock:hear:)``.
    init?(of account: AccountConfig, in config: String?, evenWaiting: Bool = false) async {
        if let holder = await AccountReader.lastHolder(of: account.bookmark) {
            if case .socket(let path) = holder.control, !evenWaiting || AccountRemains.areInUse(account.bookmark) {
                self.init(socket: path)
                return
            }
            guard evenWaiting else { return nil }
        }
        guard let config else { return nil }
        for host in await Self.all(reading: config) {
            guard case .success(.some)? = await host.answer(to: .account(account.bookmark.name), clock: .system) else {
                continue
            }
            self = host
            return
        }
        return nil
    }

    /// Finds the hosts that have read a config, by their sockets. A host whose vaults are away, or that has none open yet,
    /// is found too. A host that does not answer is not.
    /// - Parameter config: the absolute path of the config.
    static func all(
        reading config: String, environment: [String: String] = processEnvironment(), clock: HostClock = .system
    ) async -> [RunningHost] {
        guard let folder = Control.runtimeFolder(environment) else { return [] }
        let sockets = await runBlocking { ControlFolder(opening: folder)?.sockets ?? [] }
        var hosts: [RunningHost] = []
        for name in sockets {
            let host = RunningHost(socket: "\(folder)/\(name)")
            // One of another version, or of another user, is none of this command's.
            guard case .success(let answer?)? = await host.answer(to: .host, clock: clock),
                let text = String(validating: answer, as: UTF8.self), let state = try? JSONValue(parsing: text),
                state["config"] == .string(config)
            else { continue }
            hosts.append(host)
        }
        return hosts
    }

    /// The time within which a host answers that does not hang, where the answer needs no work.
    static let longestQuickAnswer = Duration.seconds(10)

    /// Asks the host for something that needs no work.
    /// - Returns: the result of ``ask(_:body:fields:clock:hear:)``; nil if the host does not answer in time.
    func answer(to request: ControlRequest, clock: HostClock) async -> Result<[UInt8]?, Failure>? {
        if SilentHosts.shared.contains(socket, at: clock.awake()) { return nil }
        let answer = await answerInTime(to: request, clock)
        if answer == nil, !Task.isCancelled { SilentHosts.shared.add(socket, at: clock.awake()) }
        return answer
    }

    private func answerInTime(
        to request: ControlRequest, _ clock: HostClock
    ) async -> Result<[UInt8]?, Failure>? {
        await withTaskGroup(of: Result<[UInt8]?, Failure>?.self) { group in
            group.addTask {
                do throws(Failure) { return .success(try await ask(request, clock: nil)) } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                // A cancelled wait is over too.
                do { try await clock.sleepAwake(Self.longestQuickAnswer) } catch {}
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// The time after a host's last sign of life after which nothing more is expected of it. A host gives a sign every
    /// ``ControlService/signInterval``, whatever it is busy with.
    static let longestSilence = Duration.seconds(10)

    /// Asks the host for something.
    /// - Parameters:
    ///   - body: the JSON of a command.
    ///   - fields: more header fields.
    ///   - clock: the clock that tells how long the host gives no sign of life; nil if that does not matter.
    ///   - hear: receives progress as it comes.
    /// - Returns: the JSON of the answer; nil if the host does not run any more.
    /// - Throws: the failure that the host answers, or a failure of the connection; `vaultLocked` if the host gives no
    ///   sign of life, or has too many connections for long.
    func ask(
        _ request: ControlRequest, body: [UInt8] = [], fields: [String: String] = [:], clock: HostClock? = .system,
        hear: (TransferProgress) -> Void = { _ in }
    ) async throws(Failure) -> [UInt8]? {
        let awake = (clock ?? .system).awake
        if SilentHosts.shared.contains(socket, at: awake()) { throw ControlClient.silent }
        var tries = 0
        while true {
            guard let client = try await ControlClient(connectingTo: socket) else {
                // The host ended with the first try.
                if tries > 0 { throw ControlClient.cutOff }
                return nil
            }
            do {
                return try await Self.ask(client, request, body, fields, clock, hear)
            } catch is ControlClient.Busy {
                tries += 1
                guard tries < ControlClient.mostTries else { throw ControlClient.busy }
                do { try await Task.sleep(for: ControlClient.pause) } catch {
                    throw Failure(.failed, "it was cancelled")
                }
            } catch let failure as Failure {
                if failure.isSilence { SilentHosts.shared.add(socket, at: awake()) }
                throw failure
            } catch {
                throw Failure(
                    .failed, "the host's answer was cut off: \(error)",
                    hint: "`larder status` shows what was done")
            }
        }
    }

    private static func ask(
        _ client: ControlClient, _ request: ControlRequest, _ body: [UInt8], _ fields: [String: String],
        _ clock: HostClock?,
        _ hear: (TransferProgress) -> Void
    ) async throws -> [UInt8] {
        var fields = fields
        fields[ControlField.version] = Product.version
        let (method, path) = request.head
        var answer: [UInt8]?
        try await client.events(
            of: method, path, fields: fields, body: body, longestSilence: clock.map { _ in longestSilence },
            clock: clock ?? .system
        ) { events in
            for event in events {
                switch event.name {
                case "progress": if let progress = TransferProgress(json: event.data) { hear(progress) }
                case "answer", "200": answer = event.data
                default: throw Failure(json: event.data)
                }
            }
        }
        guard let answer else { throw Failure(.protocolViolation, "the host gave no answer") }
        return answer
    }

    /// Carries out a command for an account.
    /// - Returns: the command's answer; nil if the host does not run any more.
    /// - Throws: as ``ask(_:body:fields:clock:hear:)``.
    func carryOut<Command: AccountCommand>(
        _ command: Command, for account: AccountConfig, hear: (TransferProgress) -> Void
    ) async throws(Failure) -> Command.Answer? {
        let answer = try await ask(
            .command(Command.name, account: account.bookmark.name), body: try ControlCoding.encode(command),
            fields: [ControlField.account: account.digest], hear: hear)
        return try answer.map { bytes throws(Failure) in try ControlCoding.decode(Command.Answer.self, from: bytes) }
    }

    /// The longest wait for the host to tell of its transfers.
    private static let longestAnswer = Duration.seconds(1)

    /// Returns the transfers that are under way in an account; none if the host does not tell of them soon.
    func transfers(of account: String) async -> [TransferUnderWay] {
        await withTaskGroup(of: [TransferUnderWay].self) { group in
            let (told, teller) = AsyncStream.makeStream(of: WatchedAccount.self)
            group.addTask {
                for await told in told { return told.activity?.transfers ?? [] }
                return []
            }
            group.addTask {
                // The list of records is there without the host's answer.
                _ = try? await watch(account) { teller.yield($0) }
                return []
            }
            group.addTask {
                try? await Task.sleep(for: Self.longestAnswer)
                return []
            }
            defer { group.cancelAll() }
            return await group.next() ?? []
        }
    }

    /// Hears what goes on in an account until the host ends, or the task is cancelled.
    /// - Returns: false if the host does not run any more.
    /// - Throws: as ``ask(_:body:fields:clock:hear:)``.
    func watch(_ account: String, hear: (WatchedAccount) -> Void) async throws(Failure) -> Bool {
        try await follow(.watch(account)) { events in
            for event in events {
                guard event.name == "status" else { throw Failure(json: event.data) }
                hear(try ControlCoding.decode(WatchedAccount.self, from: event.data))
            }
        }
    }

    /// Hears the calls into a plugin for an account until the host ends, or the task is cancelled.
    /// - Parameters:
    ///   - plugin: the id of a plugin that the config names, or that comes with Larder.
    ///   - hear: receives what has come, in its order. Meanwhile no more is read, and the host leaves out what it has no
    ///     room for.
    /// - Returns: false if the host does not run any more.
    /// - Throws: as ``ask(_:body:fields:clock:hear:)``.
    func trace(
        _ plugin: PluginID, of account: String, hear: ([TracedEvent]) async throws(Failure) -> Void
    ) async throws(Failure) -> Bool {
        try await follow(.trace(plugin: plugin.text, account: account)) { events in
            try await hear(
                try events.map { event in
                    guard event.name == "traced" || event.name == "call" else { throw Failure(json: event.data) }
                    let text = String(decoding: event.data, as: UTF8.self)
                    guard event.name == "traced" else { return .line(text) }
                    guard let plugin = try? JSONValue(parsing: text) else { throw Failure(json: event.data) }
                    return .begin(plugin)
                })
        }
    }

    /// Hears the change sets of a live query, as JSON, until the host ends.
    /// - Parameters:
    ///   - query: what is listed.
    ///   - refreshes: whether the server is asked for the folder first.
    ///   - account: the account's name.
    ///   - fields: more header fields.
    ///   - hear: receives each one.
    /// - Returns: false if the host does not run any more.
    /// - Throws: the failure that the host answers, or a failure of the connection.
    func follow(
        _ query: LiveQuery, refreshes: Bool, of account: String, fields: [String: String],
        hear: (JSONValue) async -> Void
    ) async throws(Failure) -> Bool {
        try await follow(.query(query, refreshes: refreshes, account: account), fields, "changeSet") {
            for told in $0 { await hear(told) }
        }
    }

    /// Hears the events of an account's change feed, as JSON, until the host ends.
    /// - Parameters:
    ///   - position: the position behind which events are told; nil: from now on.
    ///   - account: the account's name.
    ///   - fields: more header fields.
    ///   - hear: receives the events that have come.
    /// - Returns: false if the host does not run any more.
    /// - Throws: the failure that the host answers, or a failure of the connection.
    func changes(
        behind position: ChangePosition?, of account: String, fields: [String: String],
        hear: ([JSONValue]) async -> Void
    ) async throws(Failure) -> Bool {
        try await follow(.changes(position, account: account), fields, "change", hear: hear)
    }

    /// Hears events that have one name, as JSON.
    private func follow(
        _ request: ControlRequest, _ fields: [String: String], _ name: String, hear: ([JSONValue]) async -> Void
    ) async throws(Failure) -> Bool {
        try await follow(request, fields: fields) { events in
            var told: [JSONValue] = []
            for event in events {
                guard event.name == name, let text = String(validating: event.data, as: UTF8.self),
                    let value = try? JSONValue(parsing: text)
                else {
                    await hear(told)
                    throw Failure(json: event.data)
                }
                told.append(value)
            }
            if !told.isEmpty { await hear(told) }
        }
    }

    /// Hears the events of an answer until it ends.
    /// - Returns: false if the host does not run any more.
    private func follow(
        _ request: ControlRequest, fields: [String: String] = [:],
        hear: ([ControlClient.Event]) async throws -> Void
    ) async throws(Failure) -> Bool {
        guard let client = try await ControlClient(connectingTo: socket) else { return false }
        let (method, path) = request.head
        do {
            try await client.events(
                of: method, path, fields: fields.merging([ControlField.version: Product.version]) { $1 },
                longestSilence: Self.longestSilence, clock: .system, hear)
        } catch let failure as Failure {
            throw failure
        } catch is ControlClient.Busy {
            throw ControlClient.busy
        } catch {
            throw Failure(.failed, "the host's answer was cut off: \(error)")
        }
        return true
    }
}

/// What a host tells of the calls into a plugin.
enum TracedEvent {
    /// The calls from now on are told. The value is what the host knows of the plugin, as `plugin list` prints it.
    case begin(JSONValue)
    /// A line of the trace, as JSON.
    case line(String)
}

/// The sockets of the hosts that gave no sign of life a moment ago. A command about many accounts does not wait for the
/// same host again for each of them.
private final class SilentHosts: Sendable {
    static let shared = SilentHosts()
    /// The time for which nothing is expected of such a host.
    private static let length = Duration.seconds(10)

    private let ends = Mutex<[String: Duration]>([:])

    /// - Parameter now: the time while the machine is awake.
    func add(_ socket: String, at now: Duration) { ends.withLock { $0[socket] = now + Self.length } }

    func contains(_ socket: String, at now: Duration) -> Bool { ends.withLock { $0[socket].map { now < $0 } ?? false } }
}

/// The JSON of commands and answers on the control socket.
enum ControlCoding {
    static func encode(_ value: some Encodable) throws(Failure) -> [UInt8] {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
            let words: @Sendable (Advice) -> String = { $0.sentence }
            encoder.userInfo[Advice.words] = words
            if let key = Timestamp.asText { encoder.userInfo[key] = true }
            return Array(try encoder.encode(value))
        } catch {
            throw Failure(.internal, "an answer cannot be written as JSON: \(error)")
        }
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws(Failure) -> Value {
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let failure as Failure {
            throw failure
        } catch {
            throw Failure(.badData, "the JSON does not fit: \(error)")
        }
    }
}

extension Failure {
    /// Whether a host gave no sign of life.
    fileprivate var isSilence: Bool { kind == ControlClient.silent.kind && message == ControlClient.silent.message }

    /// Reads the JSON of an error as a host answers it.
    fileprivate init(json bytes: [UInt8]) {
        let error = String(validating: bytes, as: UTF8.self).flatMap { try? JSONValue(parsing: $0) }?["error"]
        guard case .string(let code)? = error?["code"], case .string(let message)? = error?["message"],
            let kind = Kind.allCases.first(where: { $0.code == code })
        else {
            self.init(.protocolViolation, "the host's answer makes no sense")
            return
        }
        if case .string(let hint)? = error?["hint"] {
            self.init(kind, message, hint: hint)
        } else {
            self.init(kind, message)
        }
    }
}

extension TransferProgress {
    /// Reads the JSON of progress as a host sends it.
    fileprivate init?(json bytes: [UInt8]) {
        guard let text = String(validating: bytes, as: UTF8.self), let json = try? JSONValue(parsing: text),
            case .integer(let files)? = json["files"], case .integer(let filesTotal)? = json["filesTotal"],
            case .integer(let bytes)? = json["bytes"], case .integer(let bytesTotal)? = json["bytesTotal"]
        else { return nil }
        self.init(
            filesDone: Int(clamping: files), filesTotal: Int(clamping: filesTotal), bytesDone: bytes,
            bytesTotal: bytesTotal)
    }
}
