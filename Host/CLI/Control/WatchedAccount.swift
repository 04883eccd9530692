import CLinux
import Core
import Logging
import Model
import Threads

/// What a running host tells those who watch one of its accounts.
struct WatchedAccount: Codable, Equatable, Sendable {
    /// The account's name.
    var account: String
    /// What the host does with the account, in one word and in words.
    var phase: String
    var words: String
    /// What goes on in the account; nil if it is not at work.
    var activity: AccountActivity?
}

extension Hosting {
    /// Looks at the control socket and at the locks that name it, now and then, and makes anew what somebody removed,
    /// until the task is cancelled.
    func keepReachable(at control: Control) async {
        var checks = 0
        while true {
            do { try await options.clock.sleep(Control.checkInterval) } catch { return }
            checks += 1
            let signal = linux_find_taken_signal()
            if signal != 0 {
                options.logger.error(
                    "Something in this process, most likely a plugin, has taken signal \(signal) from the host. The host heeds it again"
                )
            }
            let hosts = phases.values.compactMap(\.host)
            let isNew = await control.checkSocket()
            // All of what a lock says is looked at more rarely.
            let areGone = await runBlocking { hosts.contains { !$0.hasLock } }
            guard isNew || areGone || checks.isMultiple(of: 10) else { continue }
            for host in hosts { await host.announce() }
        }
    }

    /// The time between two checks of what goes on.
    private static let watchInterval = Duration.seconds(1)

    /// Tells what goes on in an account, now and whenever something has changed, until the task is cancelled.
    /// - Throws: `notFound` if there is no such account; `failed` if the task is cancelled.
    func watch(_ account: String, tell: (WatchedAccount) throws(Failure) -> Void) async throws(Failure) -> Never {
        var feed: ActivityFeed?
        var last: WatchedAccount?
        while true {
            guard let phase = phases[account] else { throw noAccount(account) }
            var told = WatchedAccount(account: account, phase: phase.name, words: phase.status, activity: nil)
            if let host = phase.host {
                if feed?.isOf(host) != true { feed = ActivityFeed(host) }
                var news: AccountActivity?
                do throws(Failure) { news = try await feed?.next() } catch {
                    // An account that is being closed cannot be read. It is in another phase soon.
                    options.logger.debug("\(error.message)")
                }
                told.activity = news ?? last?.activity
                // What is being transferred is told also if nothing has arrived, so that rates fall.
                if news != nil, told == last { try tell(told) }
            } else {
                feed = nil
            }
            if told != last { try tell(told) }
            last = told
            do { try await options.clock.sleep(Self.watchInterval) } catch { throw .stopping }
        }
    }

    /// Waits until the config that the host has read has an account no longer, or the task is cancelled.
    /// - Throws: `notFound` if there is no such account; `failed` if the task is cancelled.
    func untilGone(_ account: String) async throws(Failure) -> Never {
        while phases[account] != nil {
            do { try await options.clock.sleep(Self.watchInterval) } catch { throw .stopping }
        }
        throw noAccount(account)
    }
}
