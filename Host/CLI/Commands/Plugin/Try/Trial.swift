import Core
import Glibc
import Logging
import Model
import Threads

/// The calls of a library's processors for given items, in a process that a plugin may end.
struct Trial {
    /// The library's path.
    let library: String
    /// The file with the items; nil for those of the account, or none.
    let items: String?
    let trigger: Trigger
    /// An empty folder of the trial's own.
    let folder: String
    let global: GlobalOptions

    /// Makes the calls, and prints them.
    /// - Returns: the plugins that cannot be used, and those that made mistakes.
    func make(_ console: Console) async throws(Failure) -> [Failure] {
        let calls = TriedCalls(isJSON: global.isJSON)
        let usesConfig = global.configFile != nil || global.account != nil
        let config: Config? = if usesConfig { try global.loadConfig() } else { nil }
        let account: AccountConfig? = if global.account != nil { try config?.oneAccount() } else { nil }
        let level = try global.level()
        var options = config?.hostOptions(console) ?? Self.options(console, level: level)
        options.trace = TraceFile(output: console.output) { calls.text(of: $0) }
        let path = ConfigPaths.tidied(library.hasPrefix("/") ? library : currentFolder() + "/" + library)
        guard access(path, R_OK) == 0 else { throw .reading(library, errno) }
        let ids: [PluginID]
        do throws(Failure) {
            ids = try await HostProcess(settings: Settings(), options: options).plugins(inLibrary: path)
        } catch {
            throw Failure(.badData, error.message, hint: error.advice)
        }
        var settings = Settings()
        // No other plugin is called.
        let others = firstPartyNames.map { PluginID(shortOrFull: $0) }.filter { !ids.contains($0) }
        settings.plugins =
            ids.map { Self.settings(of: $0, in: path, config) }
            + others.map { PluginSettings(id: $0, isEnabled: false) }
        let process = HostProcess(settings: settings, options: options)
        var failures: [Failure] = []
        do throws(Failure) {
            let preview = try await open(account, in: process)
            do throws(Failure) { try await preview.dryRun(trigger) { _ in } } catch { failures.append(error) }
            // What a plugin did wrong is known until it is stopped.
            for report in await process.pluginReports() {
                if let failure = Self.failure(report) { failures.append(failure) }
            }
            try await preview.close()
        } catch {
            failures.append(error)
        }
        failures += await process.givenUpCalls()
        // Whoever reads no further knows it.
        if console.isReaderGone { failures.removeAll { $0.kind == .localIO } }
        try await process.close()
        if failures.isEmpty, calls.count == 0 {
            console.note("larder: \(library) has no processor that uses the trigger \(trigger.name)")
        }
        return failures
    }

    /// Notes that a trial has ended in order.
    static func end(in folder: String) {
        close(Glibc.open(folder + "/ended", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600))
    }

    /// Tells whether a trial has ended in order.
    static func hasEnded(in folder: String) -> Bool { access(folder + "/ended", F_OK) == 0 }

    /// Returns the path of the items that came from standard input.
    static func givenItems(in folder: String) -> String { folder + "/standard input" }

    private func open(_ account: AccountConfig?, in process: HostProcess) async throws(Failure) -> AccountPreview {
        guard var bookmark = account?.bookmark else {
            let read = await runBlocking { [items, folder] () -> Result<[Item], Failure> in
                guard let items else { return .success([]) }
                let name = items == Self.givenItems(in: folder) ? "standard input" : items
                do throws(Failure) { return .success(try TriedItems(reading: items, named: name).items) } catch {
                    return .failure(error)
                }
            }
            let items = try read.get()
            return try await .open(items, in: process, folder: folder)
        }
        try await account?.refuseAwayVault()
        // It is tried though the config turns it off.
        for id in bookmark.plugins.keys { bookmark.plugins[id]?.isEnabled = nil }
        return try await .open(bookmark, in: process)
    }

    /// Returns a plugin's settings: those of the config, with this library, enabled and in this process.
    private static func settings(of id: PluginID, in library: String, _ config: Config?) -> PluginSettings {
        var settings = config?.settings.plugins.first { $0.id == id } ?? PluginSettings(id: id, isEnabled: true)
        (settings.isEnabled, settings.library, settings.isolation) = (true, library, .inProcess)
        if config == nil { settings.grants = Set(PluginSettings.Grant.allCases) }
        return settings
    }

    private static func options(_ console: Console, level: Logger.Level?) -> HostOptions {
        var log = LogConfig()
        log.level = level ?? .warning
        let control = LogControl()
        log.apply(to: control, console)
        let handler = LineLogHandler(control, console: console)
        return HostOptions(
            logger: Logger(label: "larder") { _ in handler }, builtInPlugins: BuiltIn.pluginFolder,
            probe: BuiltIn.probeCommand, words: \.sentence)
    }

    private static func failure(_ report: PluginReport) -> Failure? {
        switch report.state {
        case .refused:
            guard let reason = report.reason else { return nil }
            return Failure(.badData, "\(report.id) is refused: \(reason)", hint: report.advice)
        case .running, .degraded:
            return report.mistakes.map { Failure(.failed, "\(report.id) made mistakes: \($0)") }
        default: return nil
        }
    }
}
