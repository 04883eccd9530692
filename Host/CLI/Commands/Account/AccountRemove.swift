import ArgumentParser
import Core
import Model

struct AccountRemove: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Take an account out of the config.",
        discussion: """
            Without --purge, the vault and the local copies stay where they are, and the command says where that is. \
            With --purge, the local copies whose content the server is known to have are removed first, pinned or not. \
            If nothing is left then that only this machine has, the vault goes too, with the policies, and so does the \
            password that `account add` wrote. Files that were changed or made here stay in any case.
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
        let file = try ConfigFile(config.file)
        let text: String
        do {
            text = try AccountEdit.removing(index, from: file.text)
        } catch {
            throw Failure(
                .cannotCreate, "\(file.path) was not changed: \(error.reason)",
                hint: "take `- name: \(name)` and its settings out by hand")
        }
        let left: Left
        if purge, AccountRemains.exist(account.bookmark) {
            let process = config.hostProcess(console)
            let host = try await process.open(account.bookmark) { AccountSecret(.none) }
            left = try await purge(host, file, text)
            try await process.close()
        } else {
            // The vault must not be in use: a running host would go on with the account.
            let remains = try await AccountRemains.of(account.bookmark)
            try file.replace(with: text)
            left = Left(remains: remains)
        }
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
        var isErased = false
    }

    private func purge(_ host: AccountHost, _ file: ConfigFile, _ text: String) async throws(Failure) -> Left {
        let outcome: PurgeOutcome
        do throws(Failure) {
            outcome = try await host.perform(Accounts.Purge())
            // The account leaves the config before its database goes.
            try file.replace(with: text)
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
        }
        for secret in secrets { console.print("the secret stays in \(secret)") }
    }
}
