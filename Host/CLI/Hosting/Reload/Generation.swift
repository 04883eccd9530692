import Core
import Model
import Synchronization

/// The settings and the opened plugins that accounts of a running host share. A reload that changes them makes a new
/// generation for the accounts that start from then on. May be used on any thread.
final class Generation: Sendable {
    /// A plugin that can be started.
    private struct Plugin: Hashable {
        var id: PluginID
        var library: String
    }

    private struct State {
        var users = 0
        var isRetired = false
        var isClosed = false
    }

    let process: HostProcess
    private let plugins: Set<Plugin>
    private let state = Mutex(State())

    /// - Parameter reports: the reports on the process's plugins before any was started.
    init(_ process: HostProcess, _ reports: [PluginReport]) {
        self.process = process
        plugins = Set(reports.filter { $0.state == .ready }.map { Plugin(id: $0.id, library: $0.library) })
    }

    /// Whether accounts run in the same way in both generations.
    func isLike(_ other: Generation) -> Bool {
        process.settings.ofAccounts == other.process.settings.ofAccounts && plugins == other.plugins
    }

    /// Notes that an account was started.
    func enter() { state.withLock { $0.users += 1 } }

    /// Notes that an account has ended.
    func leave() { state.withLock { $0.users -= 1 } }

    /// Notes that no more accounts are started.
    func retire() { state.withLock { $0.isRetired = true } }

    /// Ends the plugins' threads, if no account uses them any more and none will. Does so once.
    /// - Returns: the plugins' calls that were given up, and the errors of closing.
    func closeIfUnused() async -> [Failure] {
        let closes = state.withLock { state in
            guard state.isRetired, state.users == 0, !state.isClosed else { return false }
            state.isClosed = true
            return true
        }
        guard closes else { return [] }
        var failures = await process.givenUpCalls()
        do throws(Failure) { try await process.close() } catch { failures.append(error) }
        return failures
    }
}

extension Settings {
    /// The settings without those that make no difference to an account: how long the process takes to stop, the
    /// bandwidth, which is set for the whole process, where libraries were searched for, what is set for plugins that
    /// are not enabled, what is different for a single account, and the order in which plugins are named.
    var ofAccounts: Settings {
        var settings = self
        settings.shutdownTimeout = .zero
        settings.limits.bandwidth = BandwidthLimits()
        settings.pluginPaths = []
        settings.plugins = plugins.filter(\.isEnabledAnywhere).sorted { $0.id.text < $1.id.text }
        for index in settings.plugins.indices { settings.plugins[index].overrides = [:] }
        return settings
    }
}
