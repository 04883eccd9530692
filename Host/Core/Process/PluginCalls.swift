import Database
import LocalTree
import Logging
public import Model
import PluginHost
import Threads
import Vault

/// What an account's vault knows of calls into plugins that ended the host or did not return.
struct PluginCalls {
    let vault: String
    let clock: HostClock

    private var path: String { "\(vault)/plugins/calls" }

    /// The libraries that are held, with those that the last host's end says are to be.
    /// - Parameter isReadOnly: whether a host may be running, whose calls under way are its own, and nothing is written.
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
            if note.end == .underWay {
                logger.notice("\(ended): \(note.sentence)")
            } else {
                logger.warning("\(ended) at \(note.time): \(note.sentence)")
            }
        }
        if held != stored { try await database.write { try $0.meta.set(.heldLibraries, json: held) } }
        return held
    }

    /// Where calls are written down from now on; nil, which is logged, if there is no room.
    func board(for host: PluginHost, logger: Logger) async -> CallBoard? {
        let (path, room) = (path, await host.count)
        do { return try await runBlocking { try CallBoard(path: path, room: room) } } catch {
            logger.warning("\(error)")
            return nil
        }
    }

    /// Lets a plugin be tried again. The vault is opened for it, so that no host may run.
    /// - Returns: whether it was held.
    static func retry(
        _ plugin: PluginID, library: String, for bookmark: Bookmark, _ options: HostOptions
    ) async throws -> Bool {
        let vault = try await runBlocking {
            try Vault.open(at: bookmark.vault, files: bookmark.files, clock: options.clock.now)
        }
        do {
            let calls = PluginCalls(vault: bookmark.vault, clock: options.clock)
            var held = try await calls.held(in: vault.database, isReadOnly: false, logger: options.logger)
            let isReleased = held.release(plugin, library: library)
            let kept = held
            try await vault.database.write { try $0.meta.set(.heldLibraries, json: kept) }
            await runBlocking { CallBoard.forget(at: calls.path) }
            try vault.close()
            return isReleased
        } catch {
            // What went wrong first is what counts.
            do { try vault.close() } catch { options.logger.debug("\(error)") }
            throw error
        }
    }
}

extension MetaKey {
    /// The libraries that ended the host or hung.
    static let heldLibraries = MetaKey("heldLibraries")
}

extension HostProcess {
    /// Lets a plugin of an account be tried again that is held since it ended or held up the host.
    /// - Returns: whether it was.
    /// - Throws: `.vaultLocked` while a host has the vault open, and else as opening a vault: `.localIO`,
    ///   `.cannotCreate`, `.config`.
    public nonisolated func retry(
        _ plugin: PluginID, library: String, for bookmark: Bookmark
    ) async throws(Failure) -> Bool {
        do {
            return try await PluginCalls.retry(plugin, library: library, for: bookmark, options)
        } catch {
            throw Failure(of: error)
        }
    }
}

extension AccountReader {
    /// The reports as this account's next start would find the plugins: those of held libraries say so.
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
                    guard report.state == .ready, let hold = held.hold(of: report.library, now: now) else {
                        return report
                    }
                    var report = report
                    (report.state, report.reason) = (hold.until == nil ? .quarantined : .refused, hold.reason)
                    return report
                }
            }
        } catch {
            throw Failure(of: error)
        }
    }
}

extension Failure {
    /// A call that did not return although it was asked to.
    init(givenUp note: CallNote) {
        let plugin = PluginID(note.plugin).shortName
        self.init(
            .failed, "the plugin \(plugin) hangs: \(note.sentence), and the host ended without it",
            hint: "it is left out for ten minutes; `larder plugin why \(plugin)` tells more")
    }
}

extension Failure {
    /// While a call into a plugin hangs, the rows that it was lent stay as they are, and the database's log is kept from the first of
    /// them on. When it is longer than this, the account's run ends.
    static let longestLog = 256 << 20

    /// Nil: the log is not too long.
    init?(hanging note: CallNote, logSize: Int) {
        guard logSize > Self.longestLog else { return nil }
        let plugin = PluginID(note.plugin).shortName
        self.init(
            .failed,
            "the plugin \(plugin) hangs: \(note.sentence), and keeps the database's log from being emptied, which has grown to "
                + "\(Self.longestLog >> 20) MB",
            hint: "the next start leaves the plugin out; `larder plugin disable \(plugin)` does without it")
        endsAccount = true
    }
}

extension AccountHost {
    /// Looks at the database's log while a call into a plugin hangs.
    /// - Throws: when it has become too long.
    func keepLogBounded() async throws {
        while true {
            try await clock.sleep(.seconds(1))
            if let note = plugins.lazy.compactMap(\.hanging).first,
                let failure = Failure(hanging: note, logSize: database.logSize)
            {
                throw failure
            }
        }
    }

    /// Returns when a plugin may be tried again that is left out now.
    func waitForLeftOut(until end: Timestamp) async throws {
        // In steps, since a wait is no wait for a time of day.
        while clock.now() < end { try await clock.sleep(min(end - clock.now(), .seconds(60))) }
        state.reopen()
    }
}
