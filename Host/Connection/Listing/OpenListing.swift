import Model
import NIOHTTP1

/// A listing whose answer is being read: one request, from its head to its end. Not for use by two tasks at a time; dropping it
/// ends the request.
final class OpenListing {
    /// The account's root, as redirects may have changed it.
    let root: ServerAddress
    private let folder: ItemPath
    private let depth: Depth
    private let connection: Connection
    private let question: Question
    private let origin: ServerAddress.Origin
    private let date: Timestamp?
    private let reader: ListingReader
    private var answer: HTTPAnswer
    private var end: (rest: [ListedItem], listing: Listing, isForeign: Bool)?
    private var isOnNetwork = true

    /// - Parameters:
    ///   - root: the account's root, if the folder is another one.
    ///   - reply: a multistatus.
    ///   - connection: its gate was entered; the listing leaves it.
    init(
        _ folder: ItemPath, _ depth: Depth, below root: ServerAddress, _ reply: Reply, to question: Question,
        by connection: Connection
    ) throws(ConnectionError) {
        self.root = folder.isRoot ? reply.address.asFolder : root
        (self.folder, self.depth) = (folder, depth)
        self.connection = connection
        self.question = question
        origin = reply.address.origin
        answer = reply.answer
        date = reply.answer.headers.first(name: "Date").flatMap { Timestamp(httpDate: $0) }
        reader = try ListingReader(folder, depth: depth, root: self.root, asked: reply.address)
        if let date { connection.noteServersClock(date) }
    }

    deinit { leaveGate() }

    /// Reads until it is known what the folder is, and on to the end, but for no more than a batch of entries: what is left waits,
    /// and keeps no other request from the network meanwhile.
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

    /// Hands the entries out as they arrive.
    func rest(_ onBatch: ([ListedItem], Timestamp?) async throws -> Void) async throws -> Listing {
        if end == nil, !isOnNetwork {
            try await connection.enterGate(question)
            isOnNetwork = true
        }
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
        if let chunk = try await connection.nextChunk(of: &answer, question, at: origin) {
            try reader.read(chunk)
        } else {
            end = try reader.finish()
            end?.listing.date = date
            if folder.isRoot, depth != .zero { connection.noteRoot(hasFamilyProperties: reader.hasFamilyProperties) }
            // The next request need not wait for what is done with the entries.
            leaveGate()
        }
    }

    private func leaveGate() {
        if isOnNetwork { connection.gate.leave() }
        isOnNetwork = false
    }
}
