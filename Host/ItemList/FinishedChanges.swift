package import Connection
package import Model
import Synchronization

/// The places on the server that were changed for this account while listings were under way.
///
/// A listing shows the server as it was at some moment since the request. If a change was made since then, the listing
/// may still show the state before. What it says of the changed places then counts for nothing, and the folder is
/// listed again.
package final class FinishedChanges: Sendable {
    private struct State {
        /// The number of changes so far.
        var count = 0
        /// The changed places, each with the number of its change.
        var places: [(number: Int, place: PendingPlace)] = []
        /// The listings under way, counted by the number of changes before each.
        var listings: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Notes places that the server has changed, or may have changed. Call this function before the record of the
    /// change is removed, so that no listing misses both.
    package func note(_ places: [PendingPlace]) {
        state.withLock { state in
            guard !places.isEmpty, !state.listings.isEmpty else { return }
            state.count += 1
            state.places += places.map { (state.count, $0) }
        }
    }

    /// Notes that a listing is about to be requested. The listing is under way for as long as the result exists.
    package func begin() -> ListingMoment {
        let number = state.withLock { state in
            state.listings[state.count, default: 0] += 1
            return state.count
        }
        return ListingMoment(number, of: self)
    }

    fileprivate func end(_ number: Int) {
        state.withLock { state in
            state.listings[number] = state.listings[number].flatMap { $0 > 1 ? $0 - 1 : nil }
            let oldest = state.listings.keys.min() ?? state.count
            state.places.removeAll { $0.number <= oldest }
        }
    }

    fileprivate func since(_ number: Int) -> [PendingPlace] {
        state.withLock { $0.places.filter { $0.number > number }.map(\.place) }
    }
}

/// The moment before a listing was requested.
package final class ListingMoment: Sendable {
    private let changes: FinishedChanges
    /// The number of changes before the listing.
    private let number: Int

    fileprivate init(_ number: Int, of changes: FinishedChanges) { (self.number, self.changes) = (number, changes) }

    deinit { changes.end(number) }

    /// The places that were changed since then.
    var changedSince: [PendingPlace] { changes.since(number) }
}

/// The root's listing, which has begun together with the search for the server.
package struct BegunListing: Sendable {
    let listing: RootListing
    let moment: ListingMoment

    /// - Parameter moment: The moment before the listing was requested.
    package init(_ listing: RootListing, _ moment: ListingMoment) { (self.listing, self.moment) = (listing, moment) }
}
