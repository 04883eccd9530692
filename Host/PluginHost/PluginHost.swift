import CLinux
import Glibc
public import Logging
public import Model
import Synchronization
import Threads

/// All plugins of this process: finds their libraries, tries and opens them, and makes instances for the accounts.
///
/// One for a process, whatever the number of its accounts. All calls into an instance are made on a thread of its own, so that those of
/// one account, which a server may hold up, are in no other's way; the calls that tell what is in a library are made on another.
public actor PluginHost {
    /// A library that was opened, and the thread that it is looked at on, until that is done.
    struct Opened {
        var library: PluginLibrary
        var thread: SerialThread
    }

    struct Entry {
        var report: PluginReport
        var settings: PluginSettings
        /// Set once the plugin may be started.
        var ready: (opened: Opened, description: PluginLibrary.Description)?
        var instances: [PluginInstance] = []
    }

    private let builtIn: String
    private let paths: [String]
    private let settings: [PluginSettings]
    let probe: ProbeCommand
    let memory: (any ProbeMemory)?
    let clock: HostClock
    let logger: Logger
    var entries: [Entry] = []
    /// The calls that were given up, so far.
    private var givenUp: [CallNote] = []
    /// Whether a thread may still be inside a call that was given up: the process then ends without its libraries' handlers.
    static let leftCalls = Atomic<Bool>(false)
    var libraries: [String: Result<Opened, Refusal>] = [:]

    /// - Parameters:
    ///   - builtIn: the folder of the plugins that come with the host.
    ///   - settings: the paths with others, and what the config says of each plugin.
    ///   - probe: what opens a new library in a child process first.
    ///   - memory: which libraries were tried before; nil: each is tried at each start.
    public init(
        builtIn: String, settings: Settings, probe: ProbeCommand, memory: (any ProbeMemory)?,
        clock: HostClock = .system,
        logger: Logger
    ) {
        self.builtIn = builtIn
        paths = settings.pluginPaths
        self.settings = settings.plugins
        self.probe = probe
        self.memory = memory
        self.clock = clock
        self.logger = logger
    }

    /// Finds all plugins, and opens those that are enabled and may be opened. A plugin that cannot be used is reported, and
    /// logged, with the reason; the others are there.
    public func load() async {
        let discovery = Discovery(builtIn: builtIn, paths: paths, plugins: settings)
        for named in discovery.named {
            var entry = Entry(
                report: PluginReport(
                    id: named.settings.id, name: named.settings.id.shortName, library: named.library ?? "",
                    state: .refused, isolation: named.isolation),
                settings: named.settings)
            do throws(Refusal) { try await prepare(&entry, named) } catch {
                entry.report.state = .refused
                entry.report.reason = error.reason
                if case .schema = error { entry.report.isSchemaWrong = true }
                if case .settings(let problems) = error {
                    // Who has the config at hand tells it with its place; else the start does.
                    entry.report.settingProblems = problems
                } else {
                    logger.error("The plugin \(entry.report.id) is refused: \(error.reason)")
                }
            }
            entries.append(entry)
            for duplicate in named.duplicates {
                var report = entry.report
                report.library = duplicate
                report.state = .refused
                report.reason = Refusal.duplicate(named.settings.id, of: named.library ?? "").reason
                report.settingProblems = []
                report.settingDefaults = .object([])
                entries.append(Entry(report: report, settings: named.settings))
            }
        }
        for library in discovery.found {
            let name = String(library[(library.lastIndex(of: "/") ?? library.startIndex)...].dropFirst())
            let report = PluginReport(
                id: PluginID(name), name: name, library: library, state: .found, isolation: .process,
                reason:
                    "the config does not name it, so it was not opened; `larder plugin enable \(name)` names it there")
            entries.append(Entry(report: report, settings: PluginSettings(id: report.id, isEnabled: false)))
        }
        for case .success(let opened) in libraries.values { await opened.thread.close() }
    }

    /// How many plugins there are at most to start.
    public var count: Int { entries.count { $0.ready != nil } }

    /// Every plugin that is known of, in the order in which their processors are called.
    public func reports() -> [PluginReport] {
        entries.map { entry in
            var report = entry.report
            guard !entry.instances.isEmpty else { return report }
            let mistakes = entry.instances.map(\.log.mistakes)
            let counts = mistakes.reduce(into: [PluginLog.Misuse: Int]()) { $0.merge($1.counts, uniquingKeysWith: +) }
            report.state = counts.values.reduce(0, +) < Self.degradedFrom ? .running : .degraded
            let texts = PluginLog.Misuse.allCases.compactMap { kind in counts[kind].map { "\(kind.rawValue): \($0)" } }
            guard !texts.isEmpty else {
                report.reason = nil
                return report
            }
            let last = mistakes.compactMap(\.last).last.map { "; the last time: \($0)" } ?? ""
            report.reason = texts.joined(separator: "; ") + last
            return report
        }
    }

    /// From so many mistakes on a plugin is shown as degraded.
    private static let degradedFrom = 3

    /// Makes and starts an instance of each plugin that is ready, in the order in which their processors are called.
    ///
    /// A plugin that does not start is reported, and logged, with the reason.
    public func start(_ account: AccountEnvironment) async -> [PluginInstance] {
        var started: [PluginInstance] = []
        for index in entries.indices {
            guard let (opened, description) = entries[index].ready else {
                let report = entries[index].report
                if !report.settingProblems.isEmpty {
                    logger.error("The plugin \(report.id) is refused: \(report.reason ?? "")")
                }
                continue
            }
            let settings = entries[index].settings
            do {
                let instance = try await start(description, in: opened.library, settings, account)
                entries[index].instances.append(instance)
                // What kept it from starting another time is over.
                (entries[index].report.state, entries[index].report.reason) = (.ready, nil)
                started.append(instance)
            } catch {
                let reason = error.reason
                entries[index].report.state = error.isQuarantine ? .quarantined : .refused
                entries[index].report.reason = reason
                logger.error(
                    "The plugin \(description.id) is refused: \(reason)", metadata: ["account": "\(account.name)"])
            }
        }
        return started
    }

    /// A plugin that has not started after so many seconds is done without.
    private static let startLimit = 30

    /// Makes and starts an instance on a thread of its own.
    private func start(
        _ description: PluginLibrary.Description, in library: PluginLibrary, _ settings: PluginSettings,
        _ account: AccountEnvironment
    ) async throws(Refusal) -> PluginInstance {
        let thread: SerialThread
        do throws(ThreadError) { thread = try SerialThread.forPlugin(description.id.shortName) } catch {
            throw .startFailed("no thread can be made for it: \(String(cString: strerror(error.code)))")
        }
        let record =
            account.calls?.record(of: description.id, in: library.path)
            ?? CallRecord(plugin: description.id, library: library.path)
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
                    if let hold = account.held.hold(of: library.path, now: account.clock.now()) {
                        throw Refusal.held(hold)
                    }
                    let instance = try PluginInstance(
                        description, in: library, settings: settings.json, withheld: settings.withheld, thread: thread,
                        account: account, record: record)
                    try instance.start()
                    return instance
                }
            } onCancel: {
                Task(executorPreference: Workplace.single) { await giveUp(PluginInstance.hangLimit) }
            }
        } catch {
            if error is CancellationError, let note = record.markHanging(at: account.clock.now()) {
                givenUp.append(note)
                Self.leftCalls.store(true, ordering: .relaxed)
                throw .startFailed("it hangs: \(note.callText) has not returned")
            }
            await thread.close()
            throw error as? Refusal ?? .startFailed("\(error)")
        }
    }

    /// The calls that did not return and were given up.
    public func givenUpCalls() -> [CallNote] { givenUp }

    /// Whether one was, in this process.
    public static var hasGivenUp: Bool { leftCalls.load(ordering: .relaxed) }

    /// Stops and destroys an account's instances, after the calls that are under way, and ends their threads.
    public func stop(_ instances: [PluginInstance]) async {
        for instance in instances { instance.cancel() }
        for instance in instances.reversed() {
            for index in entries.indices { entries[index].instances.removeAll { $0 === instance } }
            do { try await instance.thread.run { instance.stop() } } catch {
                if let note = instance.givenUp { givenUp.append(note) }
                logger.debug("The plugin \(instance.plugin) was stopped before: \(error)")
            }
            instance.ended()
            await instance.thread.close()
        }
        for index in entries.indices where entries[index].ready != nil && entries[index].instances.isEmpty {
            if entries[index].report.state == .ready { entries[index].report.state = .stopped }
        }
    }

    /// Makes and starts an instance anew, for the account of one that was stopped.
    /// - Returns: nil, with a line in the log, if it does not start.
    public func startAgain(_ stopped: PluginInstance) async -> PluginInstance? {
        let index = entries.firstIndex { $0.ready?.description.id == stopped.plugin }
        guard let index, let (opened, description) = entries[index].ready else { return nil }
        do {
            let instance = try await start(
                description, in: opened.library, entries[index].settings, stopped.account)
            entries[index].instances.append(instance)
            return instance
        } catch {
            logger.error(
                "The plugin \(stopped.plugin) does not start again: \(error.reason)",
                metadata: ["account": "\(stopped.account.name)"])
            return nil
        }
    }

    /// Forgets the plugins. The libraries stay mapped. No instance may be at work.
    public func shutDown() {
        libraries.removeAll()
        for index in entries.indices { entries[index].ready = nil }
    }

    /// Names each call that does not return, once, for as long as it hangs, and has the account's other processors go on without that
    /// plugin's. Returns when the task is cancelled.
    public func watch(limit: Duration = .seconds(30)) async {
        var seen: [ObjectIdentifier: (count: Int, since: Duration, isNamed: Bool)] = [:]
        while true {
            do { try await clock.sleep(.seconds(1)) } catch { return }
            let now = clock.monotonic()
            for instance in entries.flatMap(\.instances) {
                let count = instance.context.callCount.load(ordering: .relaxed)
                let id = ObjectIdentifier(instance)
                guard count % 2 == 1, var before = seen[id], before.count == count else {
                    seen[id] = count % 2 == 1 ? (count, now, false) : nil
                    continue
                }
                // A loop waits for a server, for at most a minute.
                let limit = instance.loops == nil ? limit : limit + .seconds(60)
                guard now - before.since >= limit else { continue }
                if before.isNamed {
                    instance.thread.passOver()
                    continue
                }
                before.isNamed = true
                seen[id] = before
                let call = instance.context.record.markHanging(at: clock.now())?.callText ?? "a call"
                logger.error(
                    "The plugin \(instance.plugin) hangs: \(call) has not returned for \(limit); nothing but a restart of the host ends it, since it runs inside the host"
                )
                instance.thread.passOver()
            }
        }
    }
}
