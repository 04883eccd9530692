import ArgumentParser
import Core
import Glibc
import Model
import Threads

struct AccountRemove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take an account out of the config.",
        discussion: """
            Without --purge, the vault and the local copies stay where they are, and the command says where that is. \
            With --purge, the local copies whose content the server is known to have are removed first, pinned or not. \
            If nothing is left then that only this machine has, the vault goes too, with the policies, and so does the \
            password that `account add` wrote. Files that were changed or made here stay in any case. A running host \
            closes the account first, and ends if it has no other.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The account's name.", completion: .accountName) var name: String
    @Flag(help: "Also remove the local copies that the server has, and the vault.") var purge = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let config = try global.loadConfig()
        guard let index = config.accounts.firstIndex(where: { $0.bookmark.name.hasSameBytes(as: name) }) else {
            throw Failure(
                .notFound, "there is no account `\(name)` in \(config.file)",
                hint: "the accounts are: \(config.accounts.map(\.bookmark.name).joined(separator: ", "))")
        }
        let account = config.accounts[index]
        let away = await runBlocking { account.awayVault }
        // What only this machine has may be there.
        if purge, let away { throw away }
        let file = try ConfigFile(config.file)
        let text: String
        do {
            text = try AccountEdit.removing(index, from: file.text)
        } catch {
            throw Failure(
                .cannotCreate, "\(file.path) was not changed: \(error.reason)",
                hint: "take `- name: \(name)` and its settings out by hand")
        }
        let edit = Edit(file: file, text: text)
        var (isOut, left, waiting) = (false, Left?.none, VaultWait(console))
        while left == nil {
            if try await RunningHost.letGo(
                of: account, in: config.file, edit, shutdownTimeout: config.settings.shutdownTimeout)
            {
                isOut = true
            }
            do throws(Failure) {
                left = try await takeOut(account, isOut ? nil : edit, config, console)
            } catch {
                var reason = error
                do throws(Failure) {
                    if reason.kind == .vaultLocked, try await waiting.goesOn(for: account) { continue }
                } catch {
                    reason = error
                }
                // Nothing was taken away while the database is there.
                if isOut, AccountRemains.exist(account.bookmark) {
                    try edit.undo(because: reason)
                    await RunningHost.takeBack(inReadersOf: config.file)
                }
                throw reason
            }
        }
        guard let left else { return [] }
        // A later account may begin a new vault there.
        try KnownVaults(environment: processEnvironment())?.remove(account.bookmark.vault)
        let others = config.accounts.enumerated().filter { $0.offset != index }.flatMap { $0.element.secretFiles }
        let secrets = account.secretFiles.filter { !others.contains($0) }
        var keptSecrets = secrets
        if purge, left.isErased {
            // Only the file that `account add` writes is Larder's own.
            let folder = String(config.file[..<(config.file.lastIndex(of: "/") ?? config.file.startIndex)])
            let own = "\(folder)/\(name).password"
            if secrets.contains(own), PrivateFile.remove(own) { keptSecrets.removeAll { $0 == own } }
        }
        show(account.bookmark, left, keptSecrets, console)
        if away != nil {
            console.note(
                "larder: the vault \(account.bookmark.vault) is away; what is queued in it is not known, and not carried out",
                as: .warning)
        }
        guard !purge || left.isErased else {
            return [
                Failure(
                    .failed, "the vault \(account.bookmark.vault) was not removed: it has what only this machine has",
                    hint: "save it elsewhere; then remove the folder by hand")
            ]
        }
        return []
    }

    /// What is left of an account.
    private struct Left {
        var remains: AccountRemains?
        var removed = 0
        var kept: [String: String] = [:]
        /// The queued changes, which are not made.
        var changes: [QueuedChange] = []
        var isErased = false
    }

    /// An edit of the config that takes the account out.
    struct Edit {
        var file: ConfigFile
        /// The text without the account.
        var text: String

        func apply() throws(Failure) { try file.replace(with: text) }

        /// Puts the account back into the config.
        /// - Throws: the reason for it, with the reason why the config could not be changed back.
        func undo(because reason: Failure) throws(Failure) {
            do throws(Failure) {
                let now = try ConfigFile(file.path)
                guard now.text == text else {
                    throw Failure(.config, "\(file.path) has been changed by somebody else meanwhile")
                }
                try now.replace(with: file.text)
            } catch {
                throw Failure(
                    reason.kind, "\(reason.message); and \(error.message)",
                    hint: "the account is no longer in \(file.path); put it back by hand")
            }
        }
    }

    /// Takes an account that no process has open out of the config, and with --purge its copies and its vault away.
    /// - Parameter edit: the edit of the config; nil if it was made.
    /// - Throws: `vaultLocked` while a process has the vault open; nothing was changed then.
    private func takeOut(
        _ account: AccountConfig, _ edit: Edit?, _ config: Config, _ console: Console
    ) async throws(Failure) -> Left {
        guard purge, AccountRemains.exist(account.bookmark) else {
            // The vault must not be in use: a running host would go on with the account.
            let remains = try await AccountRemains.of(account.bookmark)
            try await AccountRemains.logOut(account.bookmark)
            try edit?.apply()
            return Left(remains: remains, changes: remains.changes)
        }
        let changes = try await AccountRemains.of(account.bookmark).changes
        let process = config.hostProcess(console)
        let host = try await process.open(account.bookmark) { AccountSecret(.none) }
        var left = try await purge(host, edit)
        left.changes = changes
        try await process.close()
        return left
    }

    private func purge(_ host: AccountHost, _ edit: Edit?) async throws(Failure) -> Left {
        let outcome: PurgeOutcome
        do throws(Failure) {
            outcome = try await host.perform(Accounts.Purge())
            // The account leaves the config before its database goes.
            try edit?.apply()
        } catch {
            try await host.close()
            throw error
        }
        var left = Left(removed: outcome.removed, kept: outcome.kept)
        if outcome.kept.isEmpty {
            left.isErased = try await host.closeAndErase()
        } else {
            try await host.close()
        }
        return left
    }

    private func show(_ bookmark: Bookmark, _ left: Left, _ secrets: [String], _ console: Console) {
        let kept = left.kept.sorted { $0.key < $1.key }
        guard !global.isJSON else {
            console.print(
                .object([
                    "account": .string(bookmark.name), "removed": .integer(left.removed),
                    "vault": .string(left.isErased ? nil : bookmark.vault),
                    "files": .string(left.isErased ? nil : bookmark.files),
                    "localCopies": .integer(left.remains?.localCopies ?? 0),
                    "localBytes": .integer(left.remains?.localBytes ?? 0),
                    "onlyHere": .integer(left.remains?.onlyHere ?? Int64(kept.count)),
                    "queued": JSONValue(left.changes),
                    "snapshots": .array(
                        (left.remains?.snapshots ?? [:]).sorted { $0.key < $1.key }.map {
                            JSONValue($0.value, at: $0.key)
                        }),
                    "kept": .array(kept.map { .object(["path": .string($0.key), "reason": .string($0.value)]) }),
                    "secrets": .array(secrets.map { .string($0) }),
                ]))
            return
        }
        console.print("\(bookmark.name) is no longer in the config")
        if purge { console.print("\(Text.count(left.removed, "local copy", "local copies")) removed") }
        for (path, reason) in kept.prefix(100) { console.print("\(Text.visible(path)) \(reason) and stays") }
        if kept.count > 100 { console.print("\(kept.count - 100) more files stay") }
        if left.isErased {
            console.print("the vault \(bookmark.vault) was removed")
        } else {
            console.print("the vault stays in \(bookmark.vault)")
        }
        if let remains = left.remains, remains.hasDatabase {
            console.print(
                "\(Text.count(remains.localCopies, "local copy", "local copies")), \(Text.bytes(remains.localBytes)), "
                    + "stay in \(bookmark.files)")
            if remains.onlyHere > 0 {
                console.print(
                    "\(Text.count(remains.onlyHere, "file or folder", "files or folders")) there were changed or made "
                        + "here, and the server does not have that")
            }
            for (file, snapshot) in remains.snapshots.sorted(by: { $0.key < $1.key }) {
                console.print(Text.snapshot(snapshot, at: file))
            }
        }
        for line in Text.queued(left.changes) { console.print(line) }
        for secret in secrets { console.print("the secret stays in \(secret)") }
    }
}

extension RunningHost {
    /// Has the host that runs an account let go of it, if there is one. A host with other accounts goes on with them,
    /// and reads the config anew; a host without ends.
    /// - Parameters:
    ///   - edit: takes the account out of the config.
    ///   - shutdownTimeout: how long the host may take to close the account.
    /// - Returns: whether the account is out of the config now.
    /// - Throws: `vaultLocked` if the host is of another version, has the account in another config, or does not close
    ///   it in time; what keeps it from reading the config anew. The config is then as it was, unless the account was
    ///   not closed in time.
    fileprivate static func letGo(
        of account: AccountConfig, in config: String, _ edit: AccountRemove.Edit, shutdownTimeout: Duration
    ) async throws(Failure) -> Bool {
        let name = account.bookmark.name
        guard let host = await RunningHost(of: account, in: config, evenWaiting: true),
            let answer = try await host.ask(.host)
        else { return false }
        let state = try ControlCoding.decode(State.self, from: answer)
        guard state.accounts.contains(where: { $0.account == name && $0.phase != "ended" }) else { return false }
        // The host's account of that name may be another one by now.
        _ = try await host.ask(.account(name), fields: [ControlField.account: account.digest])
        let isAlone = state.accounts.count == 1
        if isAlone {
            guard kill(state.process, SIGTERM) == 0 || errno == ESRCH else {
                throw Failure(.vaultLocked, "the host that runs the account cannot be stopped: \(errorText(errno))")
            }
        } else {
            try edit.apply()
            do throws(Failure) {
                guard let report = try await host.reload() else { return true }
                guard report.stopped.contains(name) else {
                    throw Failure(
                        .vaultLocked, "the host that runs has `\(name)` in another config than \(edit.file.path)",
                        hint: "take it out there, then `larder reload`")
                }
            } catch {
                try edit.undo(because: error)
                throw error
            }
        }
        let end = ContinuousClock.now + shutdownTimeout + .seconds(10)
        while AccountRemains.areInUse(account.bookmark) {
            guard ContinuousClock.now < end else {
                throw Failure(
                    .vaultLocked, "the host that runs has not closed the vault \(account.bookmark.vault)",
                    hint: "stop it, and try again")
            }
            do { try await Task.sleep(for: .milliseconds(20)) } catch { throw Failure(.failed, "it was cancelled") }
        }
        return !isAlone
    }

    /// Has the host that let go of an account run it again, now that the config has it again. The command's failure is
    /// what is told; a host that cannot take it back says why in its log.
    fileprivate static func takeBack(inReadersOf config: String) async {
        for host in await all(reading: config) { _ = try? await host.reload() }
    }

    /// The part of a host's state that says which accounts it runs.
    private struct State: Decodable {
        struct Account: Decodable {
            var account: String
            var phase: String
        }

        var process: Int32
        var accounts: [Account]
    }
}
