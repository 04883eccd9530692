public import Logging
public import Model
import Synchronization

/// All plugins of this process: finds their libraries, tries and opens them, and makes instances for the accounts.
///
/// One for a process, whatever the number of its accounts: all calls into a library are made on one thread of its own.
public actor PluginHost {
    /// A library that was opened, and the thread that all calls into it are made on.
    struct Opened {
        var library: PluginLibrary
        var thread: PluginThread
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
                reason: "the config does not name it, so it was not opened")
            entries.append(Entry(report: report, settings: PluginSettings(id: report.id, isEnabled: false)))
        }
    }

    /// Every plugin that is known of, in the order in which their processors are called.
    public func reports() -> [PluginReport] {
        entries.map { entry in
            var report = entry.report
            guard !entry.instances.isEmpty else { return report }
            let misuses = entry.instances.reduce(into: [PluginLog.Misuse: Int]()) { sum, instance in
                sum.merge(instance.log.misuses, uniquingKeysWith: +)
            }
            report.state = misuses.values.reduce(0, +) < Self.degradedFrom ? .running : .degraded
            let texts = PluginLog.Misuse.allCases.compactMap { kind in misuses[kind].map { "\(kind.rawValue): \($0)" } }
            report.reason = texts.isEmpty ? nil : texts.joined(separator: "; ")
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
                let instance = try await opened.thread.run {
                    let instance = try PluginInstance(
                        description, in: opened.library, settings: settings.json, withheld: settings.withheld,
                        thread: opened.thread, account: account)
                    try instance.start()
                    return instance
                }
                entries[index].instances.append(instance)
                started.append(instance)
            } catch {
                let reason = (error as? Refusal)?.reason ?? "\(error)"
                entries[index].report.state = .refused
                entries[index].report.reason = reason
                logger.error(
                    "The plugin \(description.id) is refused: \(reason)", metadata: ["account": "\(account.name)"])
            }
        }
        return started
    }

    /// Stops and destroys an account's instances, after the calls that are under way.
    public func stop(_ instances: [PluginInstance]) async {
        for instance in instances { instance.cancel() }
        for instance in instances.reversed() {
            for index in entries.indices { entries[index].instances.removeAll { $0 === instance } }
            do { try await instance.thread.run { instance.stop() } } catch {
                logger.debug("The plugin \(instance.plugin) was stopped before: \(error)")
            }
        }
        for index in entries.indices where entries[index].ready != nil && entries[index].instances.isEmpty {
            if entries[index].report.state == .ready { entries[index].report.state = .stopped }
        }
    }

    /// Ends the plugins' threads. The libraries stay mapped. No instance may be at work.
    public func shutDown() async {
        for case .success(let opened) in libraries.values { await opened.thread.close() }
        libraries.removeAll()
        for index in entries.indices { entries[index].ready = nil }
    }

    /// Names each call that does not return, once, for as long as it hangs. Returns when the task is cancelled.
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
                guard !before.isNamed, now - before.since >= limit else { continue }
                before.isNamed = true
                seen[id] = before
                logger.error(
                    "The plugin \(instance.plugin) hangs: a call has not returned for \(limit); nothing but a restart of the host ends it, since it runs inside the host"
                )
            }
        }
    }
}
