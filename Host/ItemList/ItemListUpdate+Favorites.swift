import Connection
import Database
import Model

extension ItemListUpdate {
    /// The outcome of asking for the account's favorites.
    package enum FavoritesOutcome: Hashable, Sendable {
        case updated(changed: Bool)
        /// The server does not answer such a request, or what it answers is not what its listings tell.
        case refused
    }

    /// Asks the server for the account's favorites and writes them into the item list.
    ///
    /// What this account is about to mark, or has just marked, stays as it is. An item counts as no longer marked only if
    /// the server, asked about one such item, says so too.
    /// - Throws: `ConnectionError` if the answer does not come; `Failure` of the database.
    package func updateFavorites() async throws -> FavoritesOutcome {
        let moment = finishedChanges.begin()
        guard let told = try await connection.listings.favorites() else { return .refused }
        let known = try await database.read { try $0.items.favorites() }
        for path in known.subtracting(told).sorted() {
            guard let held = try await connection.listings.held(at: path) else { continue }
            guard !held.item.isFavorite else { return .refused }
            break
        }
        let (new, old) = (told.subtracting(known), known.subtracting(told))
        guard !new.isEmpty || !old.isEmpty else { return .updated(changed: false) }
        let changed = try await database.write { tx in
            var changed = false
            for (paths, isFavorite) in [(new, true), (old, false)] {
                for path in paths.sorted() {
                    var places = try tx.journal.pendingPlaces(in: path.parent)
                    for place in moment.changedSince { places.add(place, in: path.parent) }
                    guard !places.isWithin, places.entries[path] == nil else { continue }
                    if try tx.items.setFavorite(isFavorite, at: path) { changed = true }
                }
            }
            return changed
        }
        return .updated(changed: changed)
    }
}

/// The plan of asking for favorites. A value without I/O. Times are on the monotonic clock.
package struct FavoritesPlan: Sendable {
    /// The time between two questions, unless a policy depends on favorites.
    package static let interval: Duration = .seconds(15 * 60)

    /// The time after which a server is asked again that has not told them. Not each server can, and some can not now.
    package static let refusedInterval: Duration = .seconds(3600)

    private var last: Duration?
    private var isRefused = false

    package init() {}

    /// Tells whether the server is to be asked now: at a start, then with each scan while a policy depends on favorites,
    /// and otherwise once in a quarter of an hour.
    package func isDue(policiesDepend: Bool, at now: Duration) -> Bool {
        if isRefused, let last { return now - last >= Self.refusedInterval }
        guard let last, !policiesDepend else { return true }
        return now - last >= Self.interval
    }

    /// Notes that the server was asked.
    package mutating func asked(_ outcome: ItemListUpdate.FavoritesOutcome, at now: Duration) {
        last = now
        isRefused = outcome == .refused
    }

    /// Notes that the server was connected to anew: it may be another version now.
    package mutating func connected() { isRefused = false }
}
