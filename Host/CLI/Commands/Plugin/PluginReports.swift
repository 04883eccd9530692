import Core
import Glibc
import Logging
import Model

/// Returns what is known of the plugins, including what the accounts' running or last hosts recorded.
/// - Returns: the reports, and a failure for each account whose record of its plugins cannot be read.
func pluginReports(
    _ config: Config, _ console: Console
) async throws(Failure) -> (reports: [PluginReport], failures: [Failure]) {
    var failures: [Failure] = []
    let accounts = try config.namedAccounts()
    var reports = try await triedPlugins(config, console).map { $0.asSet(for: accounts, in: config) }
    for account in accounts {
        do {
            let known = reports
            let read = try await account.withReader { reader throws(Failure) in
                (held: try await reader.held(known), notes: try await reader.pluginNotes())
            }
            if let read { reports = read.held.map { $0.inWords.seen(by: read.notes, config) } }
        } catch {
            failures.append(error)
        }
    }
    return (reports, failures)
}

/// Returns what is known of the plugins without reading the records of the accounts' hosts.
/// - Parameter account: the account whose vault remembers the libraries that were tried before; nil tries all.
func triedPlugins(
    _ config: Config, _ console: Console, rememberedBy account: AccountConfig? = nil
) async throws(Failure) -> [PluginReport] {
    var config = config
    // The reason why a plugin is refused is in its report. The log would repeat it.
    config.log.level = .critical
    let process = config.hostProcess(console)
    let reports =
        if let account { await process.pluginReports(before: account.bookmark) } else { await process.pluginReports() }
    try await process.close()
    return reports.map(\.inWords)
}

extension PluginReport {
    /// The report with its advice appended to its reason as a sentence.
    var inWords: PluginReport {
        guard let advice else { return self }
        var report = self
        report.reason = [reason, advice.sentence].compactMap(\.self).joined(separator: "; ")
        report.advice = nil
        return report
    }

    /// Returns the report for some accounts: a plugin that the config enables for none of them is disabled, though it may
    /// have been opened for another account.
    func asSet(for accounts: [AccountConfig], in config: Config) -> PluginReport {
        guard state != .found, state != .missing, !accounts.contains(where: { config.isEnabled(id, for: $0) }) else {
            return self
        }
        var report = self
        (report.state, report.reason, report.advice) = (.disabled, nil, nil)
        return report
    }

    /// Returns the report with what the account's running or last host recorded about the plugin. If the config or the
    /// library changed after a running host's start, the report says what the next start will find. A note of the last
    /// host is dropped if the config or the library was written after the note.
    func seen(by notes: PluginNotes, _ config: Config) -> PluginReport {
        guard state != .found else { return self }
        let note = notes.notes.first { $0.plugin == id }
        var report = self
        if notes.started.contains(id) {
            let isDegraded = note?.state == .degraded || state == .degraded
            report.state = isDegraded ? .degraded : .running
            let next = state.isAtWork ? reason : startsNext
            if state != .missing { report.onDisk = notes.onDisk(of: id, library: library) }
            // The note may be older than the library.
            let replaced = state == .missing ? nil : notes.remark(on: id, library: library)
            let known = replaced.flatMap { note?.reason?.contains($0) } == true ? nil : replaced
            report.reason = [note?.reason, known, next].compactMap(\.self).joined(separator: "; ")
            if report.reason == "" { report.reason = nil }
        } else if let note, let said = note.reason, state == .ready {
            if notes.isRunning {
                (report.state, report.reason) = (note.state == .refused ? .refused : .ready, said)
            } else if ![library, config.file].contains(where: { wasWritten($0, after: note.time) }) {
                report.state = note.state == .refused ? .refused : .ready
                report.reason = "the last run, at \(Text.time(note.time)), said: \(said)"
            }
        }
        return report
    }

    /// A sentence about the state that the next start of the host will find; nil if the plugin can be started.
    private var startsNext: String? {
        guard state != .ready else { return nil }
        let next = "after the host's next start the plugin is \(state.rawValue)"
        return reason.map { "\(next): \($0)" } ?? next
    }
}

extension PluginReport.State {
    fileprivate var isAtWork: Bool { self == .running || self == .degraded }
}

private func wasWritten(_ file: String, after time: Timestamp) -> Bool {
    var status = stat()
    guard stat(file, &status) == 0 else { return false }
    let (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
    return Timestamp(seconds: seconds) + .nanoseconds(nanoseconds) > time
}

extension [PluginReport] {
    /// Returns the report on the plugin with an id or a short name.
    /// - Throws: `notFound` if there is none, with the name that may be meant.
    func named(_ name: String) throws(Failure) -> PluginReport {
        guard let report = first(where: { $0.id == PluginID(shortOrFull: name) || $0.id.text == name }) else {
            throw unknownPlugin(name, among: map(\.id.shortName))
        }
        return report
    }
}

func unknownPlugin(_ name: String, among known: [String]) -> Failure {
    let meant = nearestName(to: name, among: known, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
    return Failure(
        .notFound, "there is no plugin `\(name)`",
        hint: meant + "name a plugin that did not come with Larder in the config, with its library")
}
