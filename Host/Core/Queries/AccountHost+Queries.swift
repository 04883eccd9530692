import Database
import ItemList
public import Model
import Vault

extension AccountHost {
    /// Begins to read a live query. The reader must be ended. It is told nothing before the account is at work, and its
    /// reading ends with the account.
    /// - Parameter refreshes: Whether the server is asked once for the folder that is listed, if it was not asked in the
    ///   last ten seconds. The list does not count as ``LiveQueryState/idle`` before.
    /// - Throws: `.vaultLocked` if the account has as many readers as it may have; `.failed` if the account ends; the
    ///   database's `Failure`.
    public func read(_ query: LiveQuery, refreshes: Bool = false) async throws(Failure) -> LiveQueryReader {
        try queries.add(query, awaiting: refreshes ? try await refresh(query.target) : nil)
    }

    /// Has the next scan list a folder, and asks for a scan, unless the folder was listed just now.
    /// - Returns: The folder; nil if the target is an item that is not known.
    private func refresh(_ target: LiveQuery.Target) async throws(Failure) -> ItemPath? {
        do {
            let folder = try await vault.database.read { reads -> ItemPath? in
                switch target {
                case .contents(let path), .item(let path): try reads.scan.nearestFolder(to: path)
                case .itemWithID(let id):
                    try reads.items.item(localID: id).map { try reads.scan.nearestFolder(to: $0.path) }
                }
            }
            guard let folder, list.refreshes.ask(for: folder, at: clock.awake()) else { return folder }
            do {
                try await vault.database.write { tx in
                    try tx.scan.requestListing(of: folder)
                    tx.noteFoldersLeft()
                }
            } catch {
                list.refreshes.noteDone([folder])
                throw error
            }
            return folder
        } catch {
            throw Failure(of: error)
        }
    }
}
