import Database
import LocalTree
import Logging
public import Model
import PluginHost
import Threads
import Vault

/// The record in an account's vault of calls into plugins that ended the host or did not return.
struct PluginCalls {
    let vault: String
    let clock: HostClock

    private var path: String { "\(vault)/plugins/calls" }

    /// Returns the held libraries, including those that are to be held because of the way the last host ended.
    /// - Parameters:
    ///   - database: The account's database.
    ///   - isReadOnly: Whether nothing is written. A host may then be running, and the calls in progress are that
    ///     host's own.
    ///   - logger: The logger for the calls during which the host ended.
    func held(in database: Database, isReadOnly: Bool, logger: Logger) async throws -> HeldLibraries {
        let stored = try await database.read { try $0.meta.json(HeldLibraries.self, .heldLibraries) } ?? HeldLibraries()
        if isReadOnly, Vault.isInUse(at: vault) { return stored }
        let (path, now) = (path, clock.now())
        let (notes, held) = await runBlocking {
            let notes = CallBoard.notes(at: path)
            var held = stored
            held.add(notes, now: now)
            return (notes, held)
        }
        guard !isReadOnly else { return held }
        for note in notes {
            let ended = "The host ended during a call into the plugin \(note.plugin)"
            switch note.end {
            case .underWay: logger.notice("\(ended): \(note.sentence)")
            // Nobody saw when it was.
            case .vanished: logger.warning("\(ended): \(note.sentence)")
            case .forked: logger.warning("A plugin, \(note.plugin), harmed the host at \(note.time): \(note.sentence)")
            case .crashed, .exited, .hung, .closed: logger.warning("\(ended) at \(note.time): \(note.sentence)")
            }
        }
        if held != stored { try await database.write { try $0.meta.set(.heldLibraries, json: held) } }
        // The same call must not count twice.
        await runBlocking { CallBoard.forget(at: path) }
        return held
    }

    /// Returns the board on which calls are noted from now on; nil, which is logged, if there is no space for it.
    func board(for host: PluginHost, logger: Logger) async -> CallBoard? {
        // Beside a record for each plugin there is room for calls that are to be kept.
        let (path, room) = (path, await host.count + 8)
        do { return try await runBlocking { try CallBoard(path: path, room: room) } } catch {
            logger.warning("\(error)")
            return nil
        }
    }
}

extension MetaKey {
    /// The libraries that ended the host or hung.
    static let heldLibraries = MetaKey("heldLibraries")
}

extension AccountReader {
    /// Returns the reports as this account's next start would find the plugins: the reports on held libraries say that
    /// they are held.
    /// - Parameter reports: The reports on the plugins.
    /// - Throws: The database's `Failure`: `.localIO`, `.vaultLocked` or `.internal`.
    public func held(_ reports: [PluginReport]) async throws(Failure) -> [PluginReport] {
        do {
            let now = clock.now()
            let held = try await PluginCalls(vault: bookmark.vault, clock: clock)
                .held(
                    in: database, isReadOnly: true,
                    logger: Logger(label: "", factory: { _ in SwiftLogNoOpLogHandler() }))
            guard !held.isEmpty else { return reports }
            return await runBlocking {
                reports.map { report in
                    guard report.state == .ready else { return report }
                    var report = report
                    guard let hold = held.hold(of: report.library, now: now) else {
                        report.reason = report.reason ?? held.remark(on: report.library, now: now)
                        return report
                    }
                    (report.state, report.reason) = (hold.until == nil ? .quarantined : .refused, hold.reason)
                    report.advice = hold.advice
                    return report
                }
            }
        } catch {
            throw Failure(of: error)
        }
    }
}

extension Failure {
    /// Creates the failure for a call that did not return although it was cancelled.
    init(givenUp note: CallNote) {
        let plugin = PluginID(note.plugin)
        self.init(
            .failed, "the plugin \(plugin.shortName) hangs: \(note.sentence); the host ended without waiting for it",
            hint: .explainPlugin(plugin))
    }
}

extension Failure {
    /// The longest log of the database while a call into a plugin hangs, in bytes. The rows that were lent to the
    /// hanging call stay unchanged, so the database keeps its log from the first of these rows on. When the log is
    /// longer than this limit, the account's run ends.
    static let longestLog = 256 << 20

    /// Creates the failure for a log that is too long; nil if the log is not too long.
    init?(hanging note: CallNote, logSize: Int) {
        guard logSize > Self.longestLog else { return nil }
        let plugin = PluginID(note.plugin)
        self.init(
            .failed,
            "the plugin \(plugin.shortName) hangs: \(note.sentence). Meanwhile the database's log cannot be "
                + "emptied, and has grown to \(Self.longestLog >> 20) MB",
            hint: .disablePlugin(plugin))
        endsAccount = true
    }
}

extension AccountHost {
    /// The interval between checks of the database's log.
    static let logCheck = Duration.seconds(9)

    /// Checks the size of the database's log while a call into a plugin hangs.
    /// - Throws: A `Failure` when the log has become too long.
    func keepLogBounded() async throws {
        while true {
            while !plugins.contains(where: { $0.hanging != nil }) {
                await state.hangs.wait()
                try Task.checkCancellation()
            }
            try await clock.sleep(Self.logCheck)
            if let note = plugins.lazy.compactMap(\.hanging).first,
                let failure = Failure(hanging: note, logSize: database.logSize)
            {
                throw failure
            }
        }
    }

    /// Waits until a plugin that is left out now may be tried again, and then requests that the account is opened anew.
    func waitForLeftOut(until end: Timestamp) async throws {
        // The wait is split into steps, because a sleep is measured by the monotonic clock and not by the time of day.
        while clock.now() < end { try await clock.sleep(min(end - clock.now(), .seconds(60))) }
        state.reopen()
    }
}
