import CLinux
import Glibc
public import Logging
public import Model
import Synchronization
import Threads

/// The host of all plugins in this process. It finds and opens their libraries, checks them first, and makes instances
/// for the accounts.
///
/// There is one host in a process, whatever the number of accounts. All calls into an instance are made on a thread of
/// this instance. A call that waits for a server therefore delays no other account. The calls that find out what a
/// library contains are made on another thread.
public actor PluginHost {
    /// An opened library, and the thread on which it is inspected until all plugins are loaded.
    struct Opened {
        var library: PluginLibrary
        var thread: SerialThread
    }

    struct Entry {
        var report: PluginReport
        var settings: PluginSettings
        /// The library and the description; nil until the plugin may be started.
        var ready: (opened: Opened, description: PluginLibrary.Description)?
        var instances: [PluginInstance] = []
        /// The accounts for which the plugin was not started, the last time that it was to be, and why.
        var refusing: [String: Refusal] = [:]

        /// Notes whether the plugin was started for an account. The report goes on to say that the plugin is refused as
        /// long as it is for one account, whatever the order in which accounts start.
        /// - Parameter refusal: Why it was not started; nil if it was, or if it is not to be.
        mutating func note(_ refusal: Refusal?, for account: String) {
            refusing[account] = refusal
            let left = refusing.min { $0.key < $1.key }?.value
            report.state = left.map { $0.isQuarantine ? .quarantined : .refused } ?? .ready
            (report.reason, report.advice) = (left?.reason, left?.advice)
        }
    }

    private let builtIn: String
    private let paths: [String]
    private let system: String?
    private let settings: [PluginSettings]
    let probe: ProbeCommand
    let memory: (any ProbeMemory)?
    let clock: HostClock
    let logger: Logger
    var entries: [Entry] = []
    /// The calls that were given up so far.
    private var givenUp: [CallNote] = []
    var libraries: [String: Result<Opened, Refusal>] = [:]

    /// Creates a host. Opens no library.
    /// - Parameters:
    ///   - builtIn: The folder of the plugins that come with the host.
    ///   - system: The folder of the system, with plugins that are for all hosts of this machine; nil: there is none.
    ///   - settings: The settings with further plugin folders and with the config of each plugin.
    ///   - probe: The command that opens a new library in a child process first.
    ///   - memory: The memory of libraries that were tried before; nil to try each library at each start.
    ///   - clock: The clock for waiting and for times in the log.
    ///   - logger: The logger for plugins that cannot be used or that hang.
    public init(
        builtIn: String, system: String? = nil, settings: Settings, probe: ProbeCommand, memory: (any ProbeMemory)?,
        clock: HostClock = .system,
        logger: Logger
    ) {
        self.builtIn = builtIn
        self.system = system
        paths = settings.pluginPaths
        self.settings = settings.plugins
        self.probe = probe
        self.memory = memory
        self.clock = clock
        self.logger = logger
    }

    /// Finds all plugins, and opens those that are enabled and may be opened. A plugin that cannot be used is reported
    /// and logged with the reason. The other plugins are used all the same.
    public func load() async {
        let discovery = Discovery(builtIn: builtIn, paths: paths, system: system, plugins: settings)
        for named in discovery.named {
            var entry = Entry(
                report: PluginReport(
                    id: named.settings.id, name: named.settings.id.shortName, library: named.library ?? "",
                    state: .refused, isolation: named.isolation),
                settings: named.settings)
            do throws(Refusal) { try await prepare(&entry, named) } catch {
                entry.report.state = .refused
                (entry.report.reason, entry.report.advice) = (error.reason, error.advice)
                if case .schema = error { entry.report.isSchemaWrong = true }
                entry.report.isForLack = error.isLack
                if case .settings(let problems) = error {
                    // A caller that has the config reports the problem with its position in the config. Otherwise
                    // ``start(_:)`` logs the problem.
                    entry.report.settingProblems = problems
                } else {
                    logger.error(
                        "The plugin \(entry.report.id) is refused: \(error.reason)",
                        metadata: error.advice.map { ["hint": .stringConvertible($0)] })
                }
            }
            entry.report.grants = named.settings.grants.sorted { $0.rawValue < $1.rawValue }
            entries.append(entry)
            for duplicate in named.duplicates {
                var report = entry.report
                report.library = duplicate
                report.state = .refused
                report.reason = Refusal.duplicate(named.settings.id, of: named.library ?? "").reason
                report.advice = nil
                report.settingProblems = []
                report.settingDefaults = .object([])
                entries.append(Entry(report: report, settings: named.settings))
            }
        }
        for library in discovery.found {
            let name = String(library[(library.lastIndex(of: "/") ?? library.startIndex)...].dropFirst())
            let report = PluginReport(
                id: PluginID(name), name: name, library: library, state: .found, isolation: .process,
                reason: "the config does not name the library, so it was not opened",
                advice: .enablePlugin(library: name))
            entries.append(Entry(report: report, settings: PluginSettings(id: report.id, isEnabled: false)))
        }
        for case .success(let opened) in libraries.values { await opened.thread.close() }
    }

    /// The number of plugins that are ready. At most this many are started for an account.
    public var count: Int { entries.count { $0.ready != nil } }

    /// Returns a report about every known plugin, in the order in which their processors are called.
    public func reports() -> [PluginReport] {
        entries.map { entry in
            var report = entry.report
            guard !entry.instances.isEmpty else { return report.replaced(entry.ready?.opened.library) }
            let mistakes = entry.instances.map(\.log.mistakes)
            let counts = mistakes.reduce(into: [PluginLog.Misuse: Int]()) { $0.merge($1.counts, uniquingKeysWith: +) }
            let faults = counts.filter { $0.key != .refused }.values.reduce(0, +)
            report.state = faults < Self.degradedFrom ? .running : .degraded
            let texts = PluginLog.Misuse.allCases.compactMap { kind in counts[kind].map { "\(kind.rawValue): \($0)" } }
            guard !texts.isEmpty else {
                report.reason = nil
                return report.replaced(entry.ready?.opened.library)
            }
            let last = mistakes.compactMap(\.last).last.map { "; the last time: \($0)" } ?? ""
            report.mistakes = texts.joined(separator: "; ") + last
            report.reason = report.mistakes
            return report.replaced(entry.ready?.opened.library)
        }
    }

    /// The number of mistakes from which a plugin is shown as degraded.
    private static let degradedFrom = 3

    /// Makes and starts an instance of each plugin that is ready, in the order in which their processors are called.
    ///
    /// A plugin that is disabled for the account is left out. A plugin that does not start is reported and logged with
    /// the reason.
    /// - Returns: The instances that were started.
    public func start(_ account: AccountEnvironment) async -> [PluginInstance] {
        var started: [PluginInstance] = []
        for index in entries.indices {
            guard let (opened, description) = entries[index].ready else {
                let report = entries[index].report
                if !report.settingProblems.isEmpty {
                    logger.error(
                        "The plugin \(report.id) is refused: \(report.reason ?? "")",
                        metadata: ["account": "\(account.name)"])
                }
                continue
            }
            let settings = entries[index].settings.with(account.overrides[description.id])
            guard settings.isEnabled else {
                forget(account.name, at: index)
                continue
            }
            do {
                let instance = try await start(description, in: opened.library, settings, account)
                entries[index].instances.append(instance)
                entries[index].note(nil, for: account.name)
                started.append(instance)
            } catch {
                entries[index].note(error, for: account.name)
                var metadata: Logger.Metadata = ["account": "\(account.name)"]
                if let advice = error.advice { metadata["hint"] = .stringConvertible(advice) }
                logger.error("The plugin \(description.id) is refused: \(error.reason)", metadata: metadata)
            }
        }
        return started
    }

    /// The number of seconds after which the start of a plugin is given up.
    private static let startLimit = 30

    /// Makes and starts an instance on a thread of its own.
    private func start(
        _ description: PluginLibrary.Description, in library: PluginLibrary, _ settings: PluginSettings,
        _ account: AccountEnvironment
    ) async throws(Refusal) -> PluginInstance {
        let thread: SerialThread
        do throws(ThreadError) { thread = try SerialThread.forPlugin(description.id.shortName) } catch {
            throw .lack("no thread can be created for it", error.code)
        }
        let record =
            account.calls?.record(of: description.id, in: library.path, mark: library.image.mark)
            ?? CallRecord(plugin: description.id, library: library.path, mark: library.image.mark)
        linux_watch_calls(Failure.Kind.internal.rawValue)
        let clock = account.clock
        let isStarted = Atomic<Bool>(false)
        defer { isStarted.store(true, ordering: .relaxed) }
        let giveUp: @Sendable (Int) async -> Void = { seconds in
            do { try await clock.pass(seconds: seconds) } catch { return }
            if !isStarted.load(ordering: .relaxed) { thread.giveUp() }
        }
        let limit = Task(executorPreference: Workplace.single) { await giveUp(Self.startLimit) }
        defer { limit.cancel() }
        do {
            return try await withTaskCancellationHandler {
                try await thread.run {
                    if let hold = account.held.hold(of: library.image, now: account.clock.now()) {
                        throw Refusal.held(hold)
                    }
                    let instance = try PluginInstance(
                        description, in: library, settings: settings.json, withheld: settings.withheld,
                        grants: settings.grants, thread: thread, account: account, record: record)
                    instance.context.valueQuota = settings.valueQuota
                    instance.context.recordQuota = settings.recordQuota
                    try instance.start()
                    return instance
                }
            } onCancel: {
                Task(executorPreference: Workplace.single) { await giveUp(PluginInstance.hangLimit) }
            }
        } catch {
            if error is CancellationError, let note = record.markHanging(at: account.clock.now()) {
                givenUp.append(note)
                throw .startFailed("it hangs: \(note.callText) has not returned")
            }
            await thread.close()
            throw error as? Refusal ?? .startFailed("\(error)")
        }
    }

    /// Takes back that plugins are refused for an account, which leaves the host.
    public func forget(account: String) {
        for index in entries.indices { forget(account, at: index) }
    }

    private func forget(_ account: String, at index: Int) {
        guard entries[index].refusing[account] != nil else { return }
        entries[index].note(nil, for: account)
        if entries[index].refusing.isEmpty, entries[index].instances.isEmpty { entries[index].report.state = .stopped }
    }

    /// Has the reports' marks of the opened libraries tell a file with the same bytes from other ones, also for another
    /// process. The libraries are read the first time.
    public func digestLibraries() async {
        for index in entries.indices {
            guard let library = entries[index].ready?.opened.library, !entries[index].instances.isEmpty else {
                continue
            }
            entries[index].report.openedMark = await runBlocking { library.markWithDigest() }
        }
    }

    /// Returns the calls that did not return and were given up.
    public func givenUpCalls() -> [CallNote] { givenUp }

    /// Stops and destroys an account's instances after the calls that are under way, and ends their threads. None waits
    /// for another.
    public func stop(_ instances: [PluginInstance]) async {
        for instance in instances { instance.cancel() }
        for index in entries.indices {
            entries[index].instances.removeAll { instance in instances.contains { $0 === instance } }
        }
        await withDiscardingTaskGroup { [logger] group in
            for instance in instances {
                group.addTask {
                    do { try await instance.thread?.run { instance.stop() } } catch {
                        logger.debug(
                            "The plugin \(instance.plugin) was stopped before: \(error)",
                            metadata: ["account": "\(instance.account.name)"])
                    }
                    instance.ended()
                    await instance.thread?.close()
                }
            }
        }
        givenUp += instances.compactMap(\.givenUp)
        for index in entries.indices where entries[index].ready != nil && entries[index].instances.isEmpty {
            if entries[index].report.state == .ready { entries[index].report.state = .stopped }
        }
    }

    /// Makes and starts a new instance for the account of an instance that was stopped.
    /// - Returns: The new instance; nil if it does not start, and then the log has a line about the reason.
    public func startAgain(_ stopped: PluginInstance) async -> PluginInstance? {
        let index = entries.firstIndex { $0.ready?.description.id == stopped.plugin }
        guard let index, let (opened, description) = entries[index].ready else { return nil }
        do {
            let instance = try await start(
                description, in: opened.library,
                entries[index].settings.with(stopped.account.overrides[description.id]), stopped.account)
            entries[index].instances.append(instance)
            return instance
        } catch {
            var metadata: Logger.Metadata = ["account": "\(stopped.account.name)"]
            if let advice = error.advice { metadata["hint"] = .stringConvertible(advice) }
            logger.error("The plugin \(stopped.plugin) could not be restarted: \(error.reason)", metadata: metadata)
            return nil
        }
    }

    /// Forgets the plugins. The libraries stay mapped. No instance may be at work.
    public func shutDown() {
        libraries.removeAll()
        for index in entries.indices { entries[index].ready = nil }
    }

    /// Watches for calls that do not return, until the task is cancelled.
    ///
    /// Logs each such call once for as long as it hangs. Lets the account's other processors go on without the hanging
    /// plugin.
    /// - Parameters:
    ///   - limit: The duration from which a call counts as hanging. For a plugin with event loops it is 60 s longer.
    ///   - tick: Called once a second.
    public func watch(limit: Duration = .seconds(30), tick: @Sendable () -> Void = {}) async {
        // The calls that were under way a second ago.
        var seen: [ObjectIdentifier: (count: Int, since: Duration, isNamed: Bool)] = [:]
        while true {
            do { try await clock.sleep(.seconds(1)) } catch { return }
            tick()
            let last = seen
            seen = [:]
            // A plugin whose call does not return must not keep the host from being told to stop.
            for sentence in Harm().sentences { logger.warning("A call into a plugin \(sentence)") }
            // A plugin gets no time while the machine sleeps.
            let now = clock.awake()
            for instance in entries.lazy.flatMap(\.instances) {
                let count = instance.context.callCount.load(ordering: .relaxed)
                guard count % 2 == 1 else { continue }
                let id = ObjectIdentifier(instance)
                guard var before = last[id], before.count == count else {
                    seen[id] = (count, now, false)
                    continue
                }
                seen[id] = before
                // A call into an event loop may wait for a server, for at most a minute.
                let limit = instance.loops == nil ? limit : limit + .seconds(60)
                guard now - before.since >= limit else { continue }
                if before.isNamed {
                    instance.thread?.passOver()
                    continue
                }
                before.isNamed = true
                seen[id] = before
                let call = instance.context.record.markHanging(at: clock.now())?.callText ?? "a call"
                let text =
                    "The plugin \(instance.plugin) hangs: \(call) has not returned for \(limit); "
                    + "only a restart of the host ends the call, since the plugin runs inside the host"
                logger.error("\(text)", metadata: ["account": "\(instance.account.name)"])
                instance.account.hung()
                instance.thread?.passOver()
            }
        }
    }
}

extension PluginReport {
    /// The report with a remark if another library lies where the library lay that the host has opened.
    fileprivate func replaced(_ library: PluginLibrary?) -> PluginReport {
        guard let library else { return self }
        let onDisk = LibraryMark.onDisk(library.path, openedWith: openedMark ?? library.image.mark)
        guard let remark = LibraryMark.remark(onDisk) else { return self }
        var report = self
        report.onDisk = onDisk
        report.reason = [reason, remark].compactMap(\.self).joined(separator: "; ")
        return report
    }
}
