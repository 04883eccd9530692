import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Core

/// Tests of an account of a running host that cannot go on, and of its restarts.
@Suite struct RestartTests {
    private static let full = Failure(.localIO, "The disk is full")
    private static let away = Failure.lasting(.localIO, "The folder was moved", hint: "")

    @Test("H11: what may pass is waited for, each time longer, and anew when the account has worked for a while")
    func pauses() {
        var restarts = Restarts(isAlone: true)
        var pauses: [Duration] = []
        for worked in [1, 0, 0, 0, 0, 0, 59, 60, 1] {
            guard case .waits(let pause) = restarts.next(after: Self.full, worked: .seconds(worked)) else {
                Issue.record("it ends")
                return
            }
            pauses.append(pause)
        }
        #expect(pauses == [1, 2, 4, 8, 16, 30, 30, 1, 2].map { .seconds($0) })
    }

    @Test("H11: what becomes of which trouble, of the only account and of one of several")
    func kinds() {
        func waits(_ failure: Failure, isAlone: Bool, wasOpen: Bool, worked: Duration? = nil) -> Bool {
            var restarts = Restarts(isAlone: isAlone)
            if wasOpen { _ = restarts.next(after: Self.full, worked: .zero) }
            return restarts.next(after: failure, worked: worked) != .ends
        }
        for kind in Failure.Kind.allCases {
            let failure = Failure(kind, "x")
            // The first start fails: the exit code tells the person at the terminal, or the service manager.
            #expect(!waits(failure, isAlone: true, wasOpen: false))
            #expect(waits(failure, isAlone: false, wasOpen: false) == ![.config, .vaultLocked].contains(kind))
            // Later nobody is at the terminal.
            for worked in [nil, Duration.seconds(1)] {
                #expect(waits(failure, isAlone: true, wasOpen: true, worked: worked) == (kind != .internal))
                #expect(waits(failure, isAlone: false, wasOpen: true, worked: worked))
            }
        }
        // A host does nothing with a missing tree. With one account the process ends with 74.
        #expect(!waits(Self.away, isAlone: true, wasOpen: true, worked: .seconds(1)))
        #expect(waits(Self.away, isAlone: false, wasOpen: true, worked: .seconds(1)))
        #expect(waits(Self.away, isAlone: false, wasOpen: false))
    }

    @Test("An account that was closed is freed, with its database, its threads and its folders")
    func freed() async throws {
        try await AccountFixture.running { fixture in
            fixture.put("/a", "a")
            try await fixture.pin("/a")
            try await fixture.runWell()
            weak let engine = fixture.host.engine
            weak let database = fixture.host.database
            #expect(engine != nil && database != nil)
            try await fixture.restart()
            await until(atMost: .seconds(60)) { engine == nil && database == nil }
            #expect(engine == nil && database == nil)
        }
    }

    /// Returns a host of several accounts, with a clock that stands still. No server answers at the account's address.
    private func process(
        _ clock: TestClock, _ log: CollectedLog, _ known: KnownVaults? = nil
    ) throws -> HostProcess {
        var options = HostOptions(
            clock: clock.host, logger: log.logger, builtInPlugins: "/nowhere",
            probe: [try Build.larder, "__probe"])
        options.knownVaults = known
        return HostProcess(settings: Settings(), options: options)
    }

    @Test("H11: an account whose tree is not there says so once, in the log and in status, and goes on when it is")
    func keeping() async throws {
        try await withTemporaryFolder { folder in
            let (clock, log) = (TestClock(), CollectedLog())
            let bookmark = Bookmark(
                name: "test", url: "http://127.0.0.1:9/", username: "ada", vault: "\(folder)/vault",
                files: "\(folder)/cloud")
            try Vault.open(at: bookmark.vault, files: bookmark.files).close()
            try await mustRun("mv", [bookmark.files, "\(folder)/elsewhere"])
            let process = try process(clock, log)
            let states = States()
            let keeping = Task {
                try await process.keep(bookmark, isAlone: false, credentials: { AccountSecret(.none) }) {
                    states.add($0 != nil)
                }
            }
            var next = Duration.seconds(1)
            for seconds in [1, 3, 7] {
                await until { clock.deadlines.contains(.seconds(seconds)) }
                let trouble = try #require(AccountReader.trouble(of: bookmark, clock.host))
                #expect(trouble.message.contains(bookmark.files) && trouble.nextTry == clock.host.now() + next)
                #expect(trouble.hint?.hasPrefix("Mount it") == true)
                if seconds == 7 { try await mustRun("mv", ["\(folder)/elsewhere", bookmark.files]) }
                clock.advance(to: .seconds(seconds))
                next *= 2
            }
            await until { states.all == [true] && clock.deadlines.contains(.seconds(12)) }
            // The account first has to work for a moment.
            #expect(AccountReader.trouble(of: bookmark, clock.host) != nil)
            clock.advance(to: .seconds(12))
            await until { log.contains("notice: The account continues") }
            #expect(AccountReader.trouble(of: bookmark, clock.host) == nil)
            #expect(log.messages.filter { $0.hasPrefix("error: ") }.count == 1, "\(log.messages)")
            #expect(log.contains("error: The account waits until this problem is solved: The folder"))
            keeping.cancel()
            try await keeping.value
            #expect(states.all == [true, false])
            try await process.close()
        }
    }

    @Test(
        "H11: a vault that goes while its host runs, as with its disk, is waited for, and none is made in its place",
        arguments: [true, false])
    func goneVault(isAlone: Bool) async throws {
        try await withTemporaryFolder { folder in
            let (clock, log) = (TestClock(), CollectedLog())
            let (vault, elsewhere) = ("\(folder)/vault", "\(folder)/elsewhere")
            let bookmark = Bookmark(
                name: "test", url: "http://127.0.0.1:9/", username: "ada", vault: vault, files: "\(vault)/files")
            let process = try process(clock, log)
            let states = States()
            let keeping = Task {
                try await process.keep(bookmark, isAlone: isAlone, credentials: { AccountSecret(.none) }) {
                    states.add($0 != nil)
                }
            }
            await until { states.all == [true] && Files.exists("\(vault)/files") }
            // Only the mount point, an empty folder, is left.
            try await mustRun("mv", [vault, elsewhere])
            try Files.makeFolder(vault)
            await until {
                clock.advance(.seconds(1))
                return log.contains(
                    "error: The account waits until this problem is solved: The vault \(vault) no longer exists")
            }
            for _ in 0..<100 {
                clock.advance(.seconds(1))
                await Task.yield()
            }
            let names = try Files.names(in: vault)
            // A backup may just have been under way.
            #expect(names == [] || names == ["backups"])
            #expect(states.all == [true, false])
            Files.remove(vault)
            try await mustRun("mv", [elsewhere, vault])
            await until {
                clock.advance(.seconds(1))
                return states.all == [true, false, true] && log.contains("notice: The account continues")
            }
            keeping.cancel()
            try await keeping.value
            try await process.close()
        }
    }

    @Test("An account is not opened with another vault than the one that it had before, and goes on with that one")
    func otherVault() async throws {
        try await withTemporaryFolder { folder in
            let (clock, log, vault) = (TestClock(), CollectedLog(), "\(folder)/vault")
            let bookmark = Bookmark(
                name: "test", url: "http://127.0.0.1:9/", username: "ada", vault: vault, files: "\(vault)/files")
            let first = try Vault.open(at: vault)
            try first.close()
            try await mustRun("mv", [vault, "\(folder)/elsewhere"])
            try Vault.open(at: vault).close()
            let process = try process(clock, log)
            let states = States()
            let keeping = Task {
                try await process.keep(
                    bookmark, isAlone: false, known: first.id, credentials: { AccountSecret(.none) }
                ) { states.add($0 != nil) }
            }
            await until {
                log.contains("error: The account waits until this problem is solved: The vault \(vault) is an")
            }
            #expect(states.all == [])
            Files.remove(vault)
            try await mustRun("mv", ["\(folder)/elsewhere", vault])
            await until {
                clock.advance(.seconds(1))
                return states.all == [true]
            }
            keeping.cancel()
            try await keeping.value
            try await process.close()
        }
    }

    @Test(
        "V1, H11: a vault that was used before and is away is begun anew by nobody; a new account's is, without a word")
    func awayFromTheStart() async throws {
        try await withTemporaryFolder { folder in
            let (clock, log, vault) = (TestClock(), CollectedLog(), "\(folder)/disk/vault")
            let known = KnownVaults(path: "\(folder)/state/larder/vaults")
            let bookmark = Bookmark(
                name: "test", url: "http://127.0.0.1:9/", username: "ada", vault: vault, files: "\(vault)/files")
            func open() async throws {
                let process = try self.process(clock, log, known)
                let result: Result<AccountHost, any Error>
                do { result = .success(try await process.open(bookmark) { AccountSecret(.none) }) } catch {
                    result = .failure(error)
                }
                try await (try? result.get())?.close()
                try await process.close()
                _ = try result.get()
            }
            try await open()
            #expect(try Files.text(known.path) == "\(vault)\n" && Files.mode(of: known.path) == 0o600)
            // The disk is not mounted. A vault that has lost its database alone is another matter.
            try await mustRun("mv", ["\(folder)/disk", "\(folder)/elsewhere"])
            for place in ["", "\(folder)/disk", vault] {
                if place != "" { try Files.makeFolder(place) }
                let failure = await #expect(throws: Failure.self) { try await open() }
                #expect(failure?.kind == .localIO && failure?.message.contains("was used before") == true)
                #expect(failure?.hint?.description.contains(known.path) == true)
                #expect(!Files.exists("\(vault)/lock"))
            }
            // An only account ends, so that the code tells; one of several waits, and goes on when the disk is there.
            let process = try self.process(clock, log, known)
            await #expect(throws: Failure.self) {
                try await process.keep(bookmark, isAlone: true, credentials: { AccountSecret(.none) })
            }
            let states = States()
            let keeping = Task {
                try await process.keep(bookmark, isAlone: false, credentials: { AccountSecret(.none) }) {
                    states.add($0 != nil)
                }
            }
            await until {
                log.contains("error: The account waits until this problem is solved: The vault \(vault) was")
            }
            #expect(try Files.names(in: vault) == [])
            Files.remove("\(folder)/disk")
            try await mustRun("mv", ["\(folder)/elsewhere", "\(folder)/disk"])
            await until {
                clock.advance(.seconds(1))
                return states.all == [true]
            }
            keeping.cancel()
            try await keeping.value
            try await process.close()

            // What was taken out of the list, as by the account's removal, is begun anew; others stay in it.
            try known.add("\(folder)/other")
            try known.remove(vault)
            Files.remove("\(folder)/disk")
            try await open()
            #expect(Files.exists("\(vault)/larder.db"))
            #expect(try Files.text(known.path) == "\(folder)/other\n\(vault)\n")
        }
    }

    @Test("H11: what does not pass ends an account, which says so where others go on; a stop while it waits is none")
    func ending() async throws {
        try await withTemporaryFolder { folder in
            let (clock, log) = (TestClock(), CollectedLog())
            let bookmark = Bookmark(
                name: "test", url: "http://127.0.0.1:9/", username: "ada", vault: "\(folder)/vault",
                files: "\(folder)/vault/files")
            let process = try process(clock, log)
            for isAlone in [true, false] {
                let error = await #expect(throws: Failure.self) {
                    try await process.keep(bookmark, isAlone: isAlone) { () async throws(Failure) in
                        throw Failure(.config, "there is no password")
                    }
                }
                #expect(error?.kind == .config)
                #expect(
                    log.contains("error: The account has stopped, while the others continue: there is no password")
                        != isAlone)
            }
            let waiting = Task {
                try await process.keep(bookmark, isAlone: false) { () async throws(Failure) in
                    throw Failure(.denied, "not now")
                }
            }
            await until { clock.deadlines == [.seconds(1)] }
            waiting.cancel()
            try await waiting.value
            try await process.close()
        }
    }

    @Test("H11: the note in the vault holds while its host lives, however long its words are")
    func note() throws {
        try withTemporaryFolder { folder in
            let now = Timestamp(seconds: 1_000)
            #expect(Vault.trouble(at: folder, now: now) == nil)
            let trouble = VaultTrouble(message: "a\nb", hint: nil, nextTry: now)
            #expect(Vault.note(trouble, at: folder) && Vault.trouble(at: folder, now: now)?.message == "a b")
            #expect(Vault.trouble(at: folder, now: now + .seconds(301)) == nil)
            let long = VaultTrouble(
                message: String(repeating: "ü", count: 9_000), hint: String(repeating: "x", count: 9_000), nextTry: now)
            #expect(Vault.note(long, at: folder))
            let read = try #require(Vault.trouble(at: folder, now: now))
            #expect(read.message.hasPrefix("üü") && read.hint?.hasSuffix("…") == true)
            #expect(try Files.read("\(folder)/trouble").count == 4_096)
            #expect(Vault.note(nil, at: folder) && Vault.trouble(at: folder, now: now) == nil)
            // Process 1 exists, and no process has the largest number.
            try Files.write("1\n\(now.nanoseconds)\nx\n\n\n", to: "\(folder)/trouble")
            #expect(Vault.trouble(at: folder, now: now)?.message == "x")
            try Files.write("2147483647\n\(now.nanoseconds)\nx\n\n\n", to: "\(folder)/trouble")
            #expect(Vault.trouble(at: folder, now: now) == nil)
            for text in ["", "\n\n\n\n\n", "x\ny\nz\n\n", "-1\n1\nx\n\n\n"] {
                try Files.write(text, to: "\(folder)/trouble")
                #expect(Vault.trouble(at: folder, now: now) == nil)
            }
        }
    }
}

/// The states of the account from change to change; true while the account was at work.
private final class States: Sendable {
    private let states = Mutex<[Bool]>([])
    var all: [Bool] { states.withLock { $0 } }
    func add(_ isAtWork: Bool) { states.withLock { $0.append(isAtWork) } }
}
