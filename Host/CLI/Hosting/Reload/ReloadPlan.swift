import Model

/// What a changed config means for each account of a running host. A value without I/O.
struct ReloadPlan: Hashable {
    enum Change: Hashable {
        /// The account goes on and does not notice.
        case none
        /// The account ends and starts again.
        case restart
        /// The account starts.
        case start
    }

    struct Step: Hashable {
        /// The config that the account gets.
        var config: AccountConfig
        var change: Change
    }

    /// The accounts that run after the reload.
    private(set) var steps: [Step] = []
    /// The names of the accounts that end.
    private(set) var ends: [String] = []
    /// The key paths of the settings that need a restart of the host.
    private(set) var needRestart: [String] = []

    /// Plans a reload.
    ///
    /// An account whose folders changed goes on as a whole as it was, with its address, its login and its folders: other
    /// folders may be another account's, whose files would be compared with the wrong server. An account that would use
    /// folders that are still in use is not started.
    /// - Parameters:
    ///   - running: the accounts that have not ended, with their present configs.
    ///   - wanted: the accounts of the changed config.
    ///   - isNewGeneration: whether settings or plugins changed that concern all accounts.
    init(_ running: [AccountConfig], _ wanted: [AccountConfig], isNewGeneration: Bool) {
        let now = Dictionary(running.map { ($0.bookmark.name, $0) }) { first, _ in first }
        var kept: [AccountConfig] = []
        var next = wanted
        for index in next.indices {
            guard let old = now[next[index].bookmark.name] else { continue }
            let folders = next[index].changedFolders(since: old)
            guard !folders.isEmpty else { continue }
            needRestart += folders
            if next[index].isOther(than: old) { needRestart.append("accounts.\(old.bookmark.name)") }
            next[index] = old
            kept.append(old)
        }
        for config in next {
            guard let old = now[config.bookmark.name] else {
                if kept.contains(where: { $0.sharesFolders(with: config) }) {
                    needRestart.append("accounts.\(config.bookmark.name)")
                } else {
                    steps.append(Step(config: config, change: .start))
                }
                continue
            }
            steps.append(Step(config: config, change: isNewGeneration || config != old ? .restart : .none))
        }
        let names = Set(wanted.map(\.bookmark.name))
        ends = running.map(\.bookmark.name).filter { !names.contains($0) }
    }
}

extension AccountConfig {
    /// Returns the key paths of the folders that are others than before.
    fileprivate func changedFolders(since old: AccountConfig) -> [String] {
        [("vault", \AccountConfig.bookmark.vault), ("files", \.bookmark.files)]
            .filter { self[keyPath: $0.1] != old[keyPath: $0.1] }.map { "accounts.\(bookmark.name).\($0.0)" }
    }

    /// Whether anything but the folders differs from before.
    fileprivate func isOther(than old: AccountConfig) -> Bool {
        var same = self
        (same.bookmark.vault, same.bookmark.files) = (old.bookmark.vault, old.bookmark.files)
        // The digest covers the folders too.
        same.digest = old.digest
        return same != old
    }

    /// Whether a folder of one account is, or contains, a folder of the other.
    func sharesFolders(with other: AccountConfig) -> Bool {
        var claims = AccountClaims()
        _ = claims.take(folders: [bookmark.vault, bookmark.files], of: bookmark.name)
        return !claims.take(folders: [other.bookmark.vault, other.bookmark.files], of: other.bookmark.name).isEmpty
    }
}
