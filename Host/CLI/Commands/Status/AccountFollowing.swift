import Core
import Model

/// Follows an account: what its running host tells, and what the database has while no host runs.
struct AccountFollowing: Sendable {
    /// The time between two checks for a host.
    private static let hostInterval = Duration.seconds(1)
    /// The number of such checks after which the database is read again.
    private static let checksBetweenReads = 5

    let account: AccountConfig
    /// The absolute path of the config.
    let config: String
    /// Receives each view.
    let show: @Sendable (AccountView) -> Void

    /// Follows the account until the task is cancelled.
    func run() async {
        var checks = 0
        while !Task.isCancelled {
            var problem: String?
            do throws(Failure) {
                if let host = await RunningHost(of: account, in: config, evenWaiting: true) {
                    // A host that has ended is no problem.
                    if try await host.watch(account.bookmark.name, hear: take) { checks = 0 }
                }
            } catch {
                checks = 0
                if error.kind == .vaultLocked { problem = error.message }
            }
            if Task.isCancelled { return }
            if checks == 0 { show(await read(problem)) }
            checks = (checks + 1) % Self.checksBetweenReads
            do { try await Task.sleep(for: Self.hostInterval) } catch { return }
        }
    }

    private func take(_ told: WatchedAccount) {
        guard let activity = told.activity else {
            var view = AccountView()
            view.phase = told.words
            return show(view)
        }
        var view = AccountView(status: activity.status)
        view.busyWith = activity.busyWith.map(\.rawValue)
        (view.progress, view.transfers, view.issues) = (activity.progress, activity.transfers, activity.issues)
        show(view)
    }

    /// Reads the state from the database.
    private func read(_ problem: String?) async -> AccountView {
        var view = AccountView()
        view.problem = problem
        do throws(Failure) {
            view.status = try await Status.status(of: account)
            try await account.withReader { reader throws(Failure) in
                view.issues = try await reader.issues(limit: ActivityFeed.mostIssues)
            }
        } catch {
            view.problem = view.problem ?? error.message
        }
        return view
    }
}
