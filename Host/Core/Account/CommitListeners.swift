import Database
import ItemPolicies
import SyncEngine
import Threads

/// The listeners to commits, in the order in which they are told. They are called on the database's writer and must
/// return at once.
struct CommitListeners: Sendable {
    let state: AccountState
    let policies: ItemPolicies
    let engine: SyncEngine
    let queries: LiveQueries
    let feed: EventFeed

    func hear(_ changes: CommitChanges) {
        state.count(changes)
        queries.hear(changes)
        feed.hear(changes)
        policies.databaseChanged(changes)
        if changes.policiesChanged {
            engine.policiesChanged()
            state.policyChanges.send()
        }
        if changes.recordsChanged || changes.changesItems { engine.wake() }
        engine.rest(changes.restingRecords)
        if changes.leavesFolders { state.session.change { $0.call(for: .foldersLeft) } }
        if changes.moves > 0 || changes.freesPlaces { state.treeMoves.send() }
    }
}
