/// What no two accounts share, gathered while they are decoded, whatever else is wrong with them.
struct AccountClaims {
    private var names: [String: ConfigSource] = [:]
    private var folders: [(account: String, paths: [String])] = []

    /// - Returns: what is wrong with it; nil: no account before has the name.
    mutating func take(name: String, at source: ConfigSource) -> String? {
        guard let other = names[name] else {
            names[name] = source
            return nil
        }
        return "there are two accounts with the name `\(name)`; the other is at \(other)"
    }

    /// - Parameters:
    ///   - paths: absolute.
    ///   - account: its name, or its number if it has none.
    /// - Returns: which of them are, hold or are in a folder of an account before, a sentence each.
    mutating func take(folders paths: [String], of account: String) -> [String] {
        var clashes: [String] = []
        for mine in paths {
            for (other, theirs) in folders {
                for its in theirs where mine.isOrHolds(its) || its.isOrHolds(mine) {
                    let inner = mine.utf8.count > its.utf8.count ? mine : its
                    clashes.append("the accounts `\(other)` and `\(account)` both use the folder \(inner)")
                }
            }
        }
        folders.append((account, paths))
        return clashes
    }
}

extension String {
    /// Of paths: whether the other is this folder or lies below it.
    fileprivate func isOrHolds(_ other: String) -> Bool { "\(other)/".utf8.starts(with: "\(self)/".utf8) }
}
