public import Model
import NIOCore
import NIOHTTP1

extension Connection {
    /// Lists a folder (PROPFIND; RFC 4918, section 9.1).
    ///
    /// Entries are handed out as they arrive, the folder itself is not among them; nor are calendars, address books and principals.
    /// A listing that throws has told nothing of what is *not* on the server, whatever was handed out before. The properties of the
    /// ownCloud family are asked for in the root; in other folders if the family's server is known, or something in the root's last
    /// listing had one.
    /// - Parameters:
    ///   - folder: a path on the server; with `Depth.zero` it may be a file's.
    ///   - onBatch: takes entries in the server's order, up to 512 at a time, and the server's clock, to the second, when it
    ///     answered. What it throws is thrown on as it is.
    /// - Throws: `ConnectionError`, such as `notFound` if there is no such folder, and `unreachable` or `serverError`
    ///   if it may be listed another time; or what `onBatch` threw.
    public func list(
        _ folder: ItemPath, depth: Depth = .one, onBatch: ([ListedItem], Timestamp?) async throws -> Void
    ) async throws -> Listing {
        try await beginListing(folder, depth: depth, below: root(), timeLimit: timeLimits.head).rest(onBatch)
    }

    /// The same for who does not ask when the server answered.
    /// - Throws: As the one that takes the time.
    public func list(
        _ folder: ItemPath, depth: Depth = .one, onBatch: ([ListedItem]) async throws -> Void
    ) async throws -> Listing {
        try await list(folder, depth: depth) { (entries, _: Timestamp?) in try await onBatch(entries) }
    }

    /// Reads on what ``connect(asking:)`` began.
    /// - Returns: nil if that was done before: the root is to be listed anew.
    /// - Throws: `ConnectionError` if the answer ends too soon or makes no sense, or what `onBatch` threw.
    public func list(
        _ root: RootListing, onBatch: ([ListedItem], Timestamp?) async throws -> Void
    ) async throws -> Listing? {
        guard let listing = root.take() else { return nil }
        return try await listing.rest(onBatch)
    }

    /// Asks for a listing and returns when its answer begins.
    func beginListing(
        _ folder: ItemPath, depth: Depth, below root: ServerAddress, timeLimit: Duration
    ) async throws(ConnectionError) -> OpenListing {
        let question = Question(
            method: "PROPFIND",
            headers: ["Depth": depth.rawValue, "Content-Type": "application/xml; charset=utf-8"],
            body: folder.isRoot || mayHaveFamilyProperties ? PropertyRequest.body : PropertyRequest.standardBody,
            timeLimit: timeLimit, doing: "listing \(folder)")
        let address =
            folder.isRoot
            ? root
            : root.appending(PercentCoding.encoded(path: String(folder.text.dropFirst())) + (depth == .zero ? "" : "/"))

        try await enterGate(question)
        var isLeft = true
        defer { if isLeft { gate.leave() } }
        var reply = try await ask(question, at: address)
        guard reply.answer.status == 207 else { throw await notListed(&reply, question) }
        try Self.checkCoding(of: reply.answer, question, at: address.origin)
        let listing = try OpenListing(folder, depth, below: root, reply, to: question, by: self)
        isLeft = false
        return listing
    }

    private func notListed(_ reply: inout Reply, _ question: Question) async -> ConnectionError {
        guard (200..<300).contains(reply.answer.status) else {
            return await error(for: &reply.answer, question, at: reply.address.origin)
        }
        let via = reply.wasRedirected ? ", after a redirect to \(reply.address.withoutQuery)" : ""
        return ConnectionError(
            .protocolViolation,
            "\(reply.address.origin) answered \(reply.answer.status) instead of a listing while "
                + "\(question.doing)\(via)",
            hint:
                "check the account's url: it has to be a WebDAV collection; a login page or a proxy may be in between",
            status: reply.answer.status)
    }

    func nextChunk(
        of answer: inout HTTPAnswer, _ question: Question, at origin: ServerAddress.Origin
    ) async throws(ConnectionError) -> ByteBuffer? {
        do { return try await answer.body.next() } catch {
            throw ConnectionError(error, doing: question.doing, at: origin)
        }
    }
}
