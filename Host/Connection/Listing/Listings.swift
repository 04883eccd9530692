public import Model
import Transfer

/// Listings of an account's folders, and questions about single items.
public struct Listings: Sendable {
    let wire: Wire

    /// The number of folders that it helps to list at the same time, as far as is known. It changes.
    public var atOnce: Int { wire.gate.limit(.listing) }

    /// Lists a folder (PROPFIND; RFC 4918, section 9.1).
    ///
    /// Passes entries on as they arrive. The entries do not include the folder itself, calendars, address books and
    /// principals. A listing that throws says nothing about what is *not* on the server, whatever entries it has passed
    /// on.
    ///
    /// The listing of the root asks for the properties of the ownCloud family. Listings of other folders ask for them
    /// if the server is known to be of this family, or if something in the root's last listing had such a property.
    /// - Parameters:
    ///   - folder: The folder's path on the server. With `Depth.zero` the path may be a file's.
    ///   - onBatch: A function that takes the entries in the server's order, up to 512 at a time, and the server's
    ///     clock when it answered, to the second. Its errors are thrown on unchanged.
    /// - Returns: The folder itself, and what the listing told beside its entries.
    /// - Throws: `ConnectionError`, such as `notFound` if there is no such folder, and `unreachable` or `serverError`
    ///   if another attempt may succeed later; or the error of `onBatch`.
    public func list(
        _ folder: ItemPath, depth: Depth = .one, onBatch: ([ListedItem], Timestamp?) async throws -> Void
    ) async throws -> Listing {
        try await beginListing(folder, depth: depth, below: wire.root(), timeLimit: wire.timeLimits.head).rest(onBatch)
    }

    /// Lists a folder for callers that do not need the server's clock.
    /// - Throws: The errors of the method that passes the clock on.
    public func list(
        _ folder: ItemPath, depth: Depth = .one, onBatch: ([ListedItem]) async throws -> Void
    ) async throws -> Listing {
        try await list(folder, depth: depth) { (entries, _: Timestamp?) in try await onBatch(entries) }
    }

    /// Reads the rest of the listing that `connect` began.
    /// - Returns: nil if the listing was read before; then list the root again.
    /// - Throws: `ConnectionError` if the answer ends too soon or cannot be read; or the error of `onBatch`.
    public func list(
        _ root: RootListing, onBatch: ([ListedItem], Timestamp?) async throws -> Void
    ) async throws -> Listing? {
        guard let listing = root.take() else { return nil }
        return try await listing.rest(onBatch)
    }

    /// Asks for a listing and returns when its answer begins.
    /// - Parameter kind: The kind of requests with which it takes its turn.
    func beginListing(
        _ folder: ItemPath, depth: Depth, below root: ServerAddress, timeLimit: Duration,
        as kind: RequestGate.Kind = .listing
    ) async throws(ConnectionError) -> OpenListing {
        var question = Question(
            method: "PROPFIND",
            headers: ["Depth": depth.rawValue, "Content-Type": "application/xml; charset=utf-8"],
            body: folder.isRoot || wire.knowledge.mayHaveFamilyProperties
                ? PropertyRequest.body : PropertyRequest.standardBody,
            timeLimit: timeLimit, expected: .transfer, doing: "listing \(folder)")
        let address = root.address(of: folder, isFolder: depth != .zero)

        try await wire.enterGate(&question, kind)
        // The listing goes on with the turn.
        var isLeft = true
        defer { if isLeft { question.turn?.end() } }
        var reply = try await wire.ask(question, at: address)
        guard reply.answer.status == 207 else { throw await wire.notListed(&reply, question) }
        try Wire.checkCoding(of: reply.answer, question, at: address.origin)
        if folder.isRoot { wire.learn(.rootAnswer(reply.answer.headers)) }
        let listing = try OpenListing(folder, depth, below: root, reply, to: question, by: wire)
        isLeft = false
        return listing
    }
}
