import Model
import Transfer

/// A listing whose answer is being read: one request, from its head to its end. Two tasks must not use a listing at the
/// same time. Dropping the listing ends the request.
final class OpenListing {
    /// The account's root, after any redirects.
    let root: ServerAddress
    private let folder: ItemPath
    private let depth: Depth
    private let wire: Wire
    private var question: Question
    private let origin: ServerAddress.Origin
    private let date: Timestamp?
    private let reader: ListingReader
    private var answer: HTTPAnswer
    private var end: (rest: [ListedItem], listing: Listing, isForeign: Bool)?

    /// Creates a listing from the beginning of its answer.
    /// - Parameters:
    ///   - folder: The folder to list.
    ///   - depth: The depth of the request.
    ///   - root: The account's root, if the folder is not the root itself.
    ///   - reply: An answer with status 207.
    ///   - question: The request that was answered.
    ///   - wire: The wire. The question has a turn, which the listing ends.
    init(
        _ folder: ItemPath, _ depth: Depth, below root: ServerAddress, _ reply: Reply, to question: Question,
        by wire: Wire
    ) throws(ConnectionError) {
        self.root = folder.isRoot ? reply.address.asFolder : root
        (self.folder, self.depth) = (folder, depth)
        self.wire = wire
        self.question = question
        origin = reply.address.origin
        answer = reply.answer
        date = reply.answer.headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) }
        reader = try ListingReader(
            folder, depth: depth, root: self.root, asked: reply.address, isFamily: wire.knowledge.isFamily)
        if let date { wire.learn(.clock(date, at: wire.clock.monotonic())) }
    }

    deinit { leaveGate() }

    /// Reads until the folder itself is known, and on to the answer's end or to a full batch of entries. The unread
    /// rest waits and does not keep other requests off the network.
    func begin() async throws(ConnectionError) -> (folder: ListedItem, isForeign: Bool, date: Timestamp?) {
        while true {
            if let end { return (end.listing.folder, end.isForeign, date) }
            if let own = reader.own, reader.hasBatch {
                leaveGate()
                return (own, reader.isForeign, date)
            }
            try await readOn()
        }
    }

    /// Passes the entries on as they arrive.
    /// - Returns: What the listing told beside its entries.
    func rest(_ onBatch: ([ListedItem], Timestamp?) async throws -> Void) async throws -> Listing {
        if end == nil, question.turn == nil { try await wire.enterGate(&question, .listing) }
        while true {
            if let end {
                if !end.rest.isEmpty { try await onBatch(end.rest, date) }
                return end.listing
            }
            while let batch = reader.nextBatch() { try await onBatch(batch, date) }
            try await readOn()
        }
    }

    private func readOn() async throws(ConnectionError) {
        do throws(ConnectionError) { try await readNext() } catch {
            // Whoever asks again needs a turn.
            leaveGate()
            throw error
        }
    }

    private func readNext() async throws(ConnectionError) {
        if let chunk = try await wire.nextChunk(of: &answer, question, at: origin) {
            try reader.read(chunk)
        } else {
            end = try reader.finish()
            end?.listing.date = date
            if folder.isRoot, depth != .zero {
                wire.learn(.rootProperties(areOfFamily: reader.hasFamilyProperties))
            }
            // The next request does not wait for the processing of the entries.
            leaveGate()
        }
    }

    private func leaveGate() {
        question.turn?.end()
        question.turn = nil
    }
}
