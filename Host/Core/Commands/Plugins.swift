import Database
public import Model
import PluginHost

/// Commands about plugins.
public enum Plugins {
    /// Lets a plugin run again that is not started because it ended or blocked the host. An account at work is closed and
    /// opened again at once, with the plugin.
    /// - Throws: `.notFound` if no plugin has the id.
    public struct Retry: AccountCommand {
        public static let name = "plugin-retry"

        /// The plugin's id.
        public var plugin: PluginID

        /// Creates the command.
        public init(_ plugin: PluginID) { self.plugin = plugin }

        public func carryOut(for host: AccountHost) async throws(Failure) -> PluginRetryOutcome {
            guard let report = await host.process.pluginReports().first(where: { $0.id == plugin }) else {
                throw Failure(.notFound, "there is no plugin \(plugin.shortName)")
            }
            return try await host.failing {
                let isReleased = try await host.database.write { tx in
                    var held = try tx.meta.json(HeldLibraries.self, .heldLibraries) ?? HeldLibraries()
                    guard held.release(plugin, library: report.library) else { return false }
                    try tx.meta.set(.heldLibraries, json: held)
                    return true
                }
                guard isReleased else { return PluginRetryOutcome(isReleased: false, isAtWork: false) }
                return try await host.work.turn {
                    PluginRetryOutcome(isReleased: true, isAtWork: false)
                } atWork: {
                    host.state.reopen()
                    return PluginRetryOutcome(isReleased: true, isAtWork: true)
                }
            }
        }
    }
}

/// The outcome of letting a plugin run again.
public struct PluginRetryOutcome: Codable, Sendable {
    /// Whether the plugin was held.
    public var isReleased: Bool
    /// Whether the account is at work, and starts the plugin now.
    public var isAtWork: Bool
}
