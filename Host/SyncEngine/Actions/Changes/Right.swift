import Model

/// What the server lets the account do with an item, as far as it tells (`oc:permissions`).
enum Right {
    case delete, move, write
    case create(isFolder: Bool)

    /// Returns the failure of a request for which the account lacks the right; nil if it has it or the server does not
    /// tell.
    func missing(to item: Item) -> Failure? {
        guard let permissions = item.permissions else { return nil }
        let (letters, what) =
            switch self {
            case .delete: (["D"], "delete \(item.path)")
            case .move: (["N", "V"], "move or rename \(item.path)")
            case .write: (["W"], "change \(item.path)")
            case .create(isFolder: true): (["K"], "create a folder in \(item.path)")
            case .create(isFolder: false): (["C"], "create a file in \(item.path)")
            }
        guard !letters.contains(where: { permissions.contains($0) }) else { return nil }
        return Failure(
            .denied, "the account is not allowed to \(what)", hint: "Ask the owner of the folder for the right")
    }
}
