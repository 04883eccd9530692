public import Model

/// What an engine tells of its work. Told on any thread.
public enum EngineNews: Sendable {
    /// The server rejects the account (wrong password, certificate not trusted). The engine sends no more requests before
    /// ``SyncEngine/accountChanged()``.
    case accountRefused(Failure)
    /// The server cannot serve a request now (503).
    case unavailable
    /// A plugin's request is not carried out after all.
    case dropped(DroppedAction)
    /// The server has changed, or may have changed, places for this account. Told before the record of the change is
    /// removed.
    case changed([PendingPlace])
}

/// The functions that the engine calls at any time.
public struct EngineCallbacks: Sendable {
    /// Called with what the engine tells.
    public var tell: @Sendable (EngineNews) -> Void
    /// Returns the time when a program used the copy at a path, if the item does not say so yet. Called on a thread of
    /// the database.
    public var usedJustNow: @Sendable (ItemPath) -> Timestamp?

    /// Creates callbacks that do nothing unless given.
    public init(
        tell: @escaping @Sendable (EngineNews) -> Void = { _ in },
        usedJustNow: @escaping @Sendable (ItemPath) -> Timestamp? = { _ in nil }
    ) { (self.tell, self.usedJustNow) = (tell, usedJustNow) }
}

/// The other parts of an account that an engine uses while it works.
public protocol EnginePartners: Sendable {
    /// Lists a folder again, since the server's content differs from the database's. Returns after the try.
    func relist(_ folder: ItemPath) async
    /// Tells whether the requester's policies still cover the item of a download. Nil means that this is not known yet.
    /// Called on a thread of the database.
    func covers(_ item: Item, for requester: DownloadTrigger) throws -> Bool?
    /// A number that differs from an earlier one if what ``covers(_:for:)`` says of any item may have changed since, other
    /// than by the passing of time; nil if there is none. Read on any thread.
    var coverageVersion: Int? { get }
    /// Called after a download came that was only wanted while a policy covers its item, and that none covers any more:
    /// the policies were changed while the file was being put in place. Called on any thread.
    func cameUncovered()
    /// The number of records that each requester may have under way at a time. A requester that is not in the dictionary
    /// may have any number.
    var maximums: [DownloadTrigger: Int] { get }
}
