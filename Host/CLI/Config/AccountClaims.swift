/// The names and folders that no two accounts may share. They are gathered while the accounts are decoded, also from
/// accounts that have other problems.
struct AccountClaims {
    private var names: [String: ConfigSource] = [:]
    private var folders: [(account: String, paths: [String])] = []

    /// Records an account's name.
    /// - Returns: the problem as a sentence; nil if no earlier account has the name.
    mutating func take(name: String, at source: ConfigSource) -> String? {
        guard let other = names[name] else {
            names[name] = source
            return nil
        }
        return "there are two accounts with the name `\(name)`; the other is at \(other)"
    }

    /// Records an account's folders.
    /// - Parameters:
    ///   - paths: the absolute paths of the folders.
    ///   - account: the account's name, or its number if it has no name.
    /// - Returns: a sentence for each pair of a given folder and a folder of an earlier account in which one is or
    ///   contains the other.
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
    /// Tells whether the other path is this folder or lies below it. Both texts are paths.
    fileprivate func isOrHolds(_ other: String) -> Bool { "\(other)/".utf8.starts(with: "\(self)/".utf8) }
}
