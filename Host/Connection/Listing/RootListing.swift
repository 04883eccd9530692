import Synchronization

/// The listing of the account's root that began when the server was connected to. It describes the server at that
/// moment, so read the rest at once or not at all.
public final class RootListing: Sendable {
    private let listing: Mutex<OpenListing?>

    init(_ listing: sending OpenListing) { self.listing = Mutex(listing) }

    /// Returns the listing at the first call, and nil afterwards.
    func take() -> sending OpenListing? {
        listing.withLock { listing in
            let taken = listing
            listing = nil
            return taken
        }
    }
}
