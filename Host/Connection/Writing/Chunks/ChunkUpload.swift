import Model

/// The course of an upload in parts that are put together: what to send next, given what came. A value without I/O.
///
/// The parts have numbers from 1 on. A folder has parts of one size: where smaller ones are needed, another folder
/// takes its place.
struct ChunkUpload: Sendable {
    /// What is to be done next.
    enum Step: Hashable, Sendable {
        /// Create the folder of the parts (MKCOL), if the server still holds the version that the file follows.
        case create(partSize: Int64)
        /// Ask which parts the server has (PROPFIND), after a pause.
        case list(after: Duration)
        /// Send a part (PUT).
        case send(Int, Range<Int64>)
        /// Ask whether the server still holds the version that the file follows: the parts are there.
        case checkBase
        /// Have the parts put together, and put in place (MOVE).
        case assemble
        case end(End)
    }

    /// The end of the course.
    enum End: Hashable, Sendable {
        /// The last answer decides, as one to a PUT does.
        case decidedByAnswer
        /// The server does not do what it announces. The file goes out in one request; further ones do too if the
        /// problem is a lasting one.
        case unusable(isLasting: Bool)
        /// The server, or what is before it, takes no part that is not too small.
        case tooLarge
        /// The server takes no more parts, although it refuses nothing.
        case stuck
        /// The server has forgotten each folder that it was asked for.
        case forgotten
    }

    /// The size in bytes of a part, unless the server wants smaller ones, or there would be too many.
    static let usualPart: Int64 = 16 << 20
    /// The smallest part in bytes. A server that takes only smaller ones would be asked too often.
    static let leastPart: Int64 = 64 << 10
    /// The largest part in bytes, and the number of parts, according to the protocol.
    static let (largestPart, mostParts) = (Int64(5) << 30, Int64(10_000))
    /// The number of questions for the parts in a row that may show no progress.
    static let mostStalls = 3
    /// The number of folders that are created for a file in a row.
    static let mostCreations = 3
    /// The pauses before the parts are asked for again.
    static let pauses: [Duration] = [.zero, .milliseconds(500), .seconds(1), .seconds(2)]

    private let size: Int64
    private var partSize: Int64
    /// The folder; nil if it is to be created.
    private(set) var folder: ChunkFolder?
    /// The numbers of the parts that are still to be sent; nil if the server is to be asked which it has.
    private var missing: [Int]?
    /// The number of parts that were missing when the server was asked last.
    private var lastMissing = Int.max
    private var isBaseChecked = false
    private var stalls = 0
    private var creations = 0
    private var end: End?
    private var abandoned: ChunkFolder?

    /// Begins the course.
    /// - Parameters:
    ///   - size: The file's size in bytes, at least 1.
    ///   - refusedBody: The size of a body that was refused as too large; nil if none was.
    ///   - begun: The folder that an earlier attempt has begun to fill.
    init(size: Int64, offer: ChunkOffer, refusedBody: Int64? = nil, begun: ChunkFolder? = nil) {
        self.size = size
        // The next half shows soon whether it is small enough.
        let limit = min(offer.largestPart ?? .max, refusedBody.map { max($0 / 2, 1) } ?? .max, Self.largestPart)
        let least = (size.adding(Self.mostParts - 1)) / Self.mostParts
        partSize = min(max(Self.usualPart, least), limit)
        if partSize < Self.leastPart { end = .tooLarge }
        if partSize < least { end = .unusable(isLasting: false) }
        guard let begun else { return }
        if begun.partSize <= limit, begun.partSize >= least { folder = begun } else { abandoned = begun }
    }

    /// What is to be done next.
    var next: Step {
        if let end { return .end(end) }
        guard let folder else { return .create(partSize: partSize) }
        guard let missing else { return .list(after: Self.pauses[min(stalls, Self.pauses.count - 1)]) }
        if let number = missing.first { return .send(number, range(of: number, in: folder)) }
        return isBaseChecked ? .assemble : .checkBase
    }

    /// The bytes of a part.
    private func range(of number: Int, in folder: ChunkFolder) -> Range<Int64> {
        let start = Int64(number - 1) * folder.partSize
        return start..<min(size, start.adding(folder.partSize))
    }

    private func count(in folder: ChunkFolder) -> Int { Int((size - 1) / folder.partSize) + 1 }

    /// Returns a folder that was given up and that the server may still keep, once.
    mutating func takeAbandoned() -> ChunkFolder? {
        defer { abandoned = nil }
        return abandoned
    }

    /// Takes the status of the answer to the request that creates a folder.
    mutating func created(_ folder: ChunkFolder, _ status: Int) {
        switch status {
        case 200, 201, 204:
            self.folder = folder
            (missing, isBaseChecked, stalls) = (Array(1...count(in: folder)), false, 0)
            creations += 1
        case 401, 403, 404, 405, 409, 410, 501: end = .unusable(isLasting: true)
        default: end = .decidedByAnswer
        }
    }

    /// Takes what the server has of the parts.
    /// - Parameter sizes: The sizes in bytes by number; nil if the folder is not there.
    mutating func listed(_ sizes: [Int: Int64]?) {
        guard let folder, let sizes else { return begin() }
        let count = count(in: folder)
        // Somebody else's parts would become a part of the file.
        guard sizes.keys.allSatisfy({ (1...count).contains($0) }) else { return giveUp() }
        let missing = (1...count).filter { number in
            let range = range(of: number, in: folder)
            return sizes[number] != range.upperBound - range.lowerBound
        }
        if missing.count >= lastMissing { stalls += 1 }
        lastMissing = missing.count
        guard stalls <= Self.mostStalls else {
            end = .stuck
            return
        }
        (self.missing, isBaseChecked) = (missing, false)
    }

    /// Takes the status of the answer to a part.
    /// - Parameter hasDocument: Whether it has a document, which a portal may have sent in the server's place.
    mutating func sent(_ status: Int, hasDocument: Bool = false) {
        switch status {
        case 200 where hasDocument: ask()
        case 200, 201, 204: missing?.removeFirst()
        case 401, 403, 404, 409, 410, 412: begin()
        case 405, 501: end = .unusable(isLasting: true)
        case 413:
            let smaller = (folder?.partSize ?? partSize) / 2
            if smaller < Self.leastPart || smaller.multipliedReportingOverflow(by: Self.mostParts).partialValue < size {
                end = .tooLarge
            } else {
                partSize = smaller
                abandon()
            }
        case 423, 500, 502, 504: ask()
        default: end = .decidedByAnswer
        }
    }

    /// Notes that a part was sent, in whole or in part, and that its answer was lost.
    mutating func lost() { ask() }

    /// Notes that the server holds the version that the file follows.
    mutating func baseHolds() { isBaseChecked = true }

    /// Notes that the answer to the last request decides.
    mutating func assembled() { end = .decidedByAnswer }

    /// Notes that the server could not put the parts together although nothing is in the way: it has forgotten them, or
    /// has others.
    mutating func notAssembled() { if creations < Self.mostCreations { giveUp() } else { end = .decidedByAnswer } }

    private mutating func ask() { (missing, isBaseChecked) = (nil, false) }

    /// Begins anew, since the server does not know the folder any more.
    private mutating func begin() {
        (folder, lastMissing) = (nil, .max)
        ask()
        if creations >= Self.mostCreations { end = .forgotten }
    }

    /// Gives up a folder that the server keeps, and begins anew.
    private mutating func giveUp() {
        abandoned = folder
        begin()
    }

    /// Gives up a folder for one with smaller parts. There are not many of these.
    private mutating func abandon() {
        creations = 0
        giveUp()
    }
}
