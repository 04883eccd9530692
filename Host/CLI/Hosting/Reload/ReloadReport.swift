import Model

/// What a reload did. The accounts are given by their names, sorted.
struct ReloadReport: Hashable, Codable, Sendable {
    /// An account that does not work although it was to start.
    struct Trouble: Hashable, Codable, Sendable {
        var account: String
        /// One line.
        var message: String
    }

    /// The accounts that were started.
    var started: [String] = []
    /// The accounts that were ended. Their vaults are as they were.
    var stopped: [String] = []
    /// The accounts that were ended and started again.
    var restarted: [String] = []
    /// The accounts that went on without noticing.
    var unchanged: [String] = []
    /// The key paths of the changed settings, such as `accounts.home.vault`, that have no effect before a restart of the
    /// host.
    var needRestart: [String] = []
    var troubles: [Trouble] = []

    init(_ plan: ReloadPlan) {
        func names(_ change: ReloadPlan.Change) -> [String] {
            plan.steps.filter { $0.change == change }.map(\.config.bookmark.name).sorted()
        }
        (started, restarted, unchanged) = (names(.start), names(.restart), names(.none))
        (stopped, needRestart) = (plan.ends.sorted(), plan.needRestart)
    }

    /// The report in words, as one line. The troubles are left out, because each account logs its own.
    var summary: String {
        let parts = [("started", started), ("stopped", stopped), ("restarted", restarted), ("unchanged", unchanged)]
            .filter { !$0.1.isEmpty }.map { "\($0.1.joined(separator: ", ")) \($0.0)" }
        let rest = needRestart.isEmpty ? "" : "; changes that need a restart: \(needRestart.joined(separator: ", "))"
        return parts.joined(separator: "; ") + rest
    }
}
