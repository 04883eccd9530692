import Synchronization

/// The account's root, whose listing began when the server was connected to. What it tells holds for that moment: it is read on at
/// once, or not at all.
public final class RootListing: Sendable {
    private let listing: Mutex<OpenListing?>

    init(_ listing: sending OpenListing) { self.listing = Mutex(listing) }

    /// The listing, once.
    func take() -> sending OpenListing? {
        listing.withLock { listing in
            let taken = listing
            listing = nil
            return taken
        }
    }
}
