import Model
import NIOCore
import NIOHTTP1

/// Makes the entries of a listing of a server's answer, as it arrives. Not for use by two threads at a time.
final class ListingReader {
    private let folder: ItemPath
    private let depth: Depth
    private let hrefs: HrefReader
    private let multistatus = Multistatus(ListedResponseBuilder())
    private let xml: XMLReader
    private let answerer: ServerAddress.Origin

    /// The folder itself, once the answer has told of it.
    private(set) var own: ListedItem?
    private(set) var isForeign = false
    /// Whether anything in the answer has a property of the ownCloud family.
    private(set) var hasFamilyProperties = false
    private var entries: [ListedItem] = []
    private var handedOut = 0
    private let limits: ListingLimits
    /// Entries that came, of any kind.
    private var told = 0
    private var refused: [UnusableEntry] = []
    private var refusedCount = 0
    private var unknown: [ItemPath] = []
    private var reachesGrandchildren = false
    /// Calendars and the like, whose contents `Depth.infinity` lists after them.
    private var foreign: Set<ItemPath> = []

    /// - Parameters:
    ///   - root: the address of the account's root, with a closing slash.
    ///   - asked: the address that the answer is to.
    init(
        _ folder: ItemPath, depth: Depth, root: ServerAddress, asked: ServerAddress,
        limits: ListingLimits = ListingLimits()
    ) throws(ConnectionError) {
        self.limits = limits
        self.folder = folder
        self.depth = depth
        answerer = root.origin
        hrefs = HrefReader(root: root, asked: asked)
        do { xml = try XMLReader(handler: multistatus) } catch {
            throw ConnectionError(
                .protocolViolation, "the answer about \(folder) at \(root.origin) cannot be read: \(error.reason)")
        }
    }

    /// How many entries are handed out at a time.
    static let batch = 512

    /// Reads on.
    func read(_ chunk: ByteBuffer) throws(ConnectionError) {
        let failure: XMLReader.Malformed? = chunk.withUnsafeReadableBytes { bytes in
            do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { return error }
            return nil
        }
        try check(failure)
    }

    var hasBatch: Bool { entries.count >= Self.batch }

    /// The next entries; nil until there are enough for a batch.
    func nextBatch() -> [ListedItem]? {
        guard hasBatch else { return nil }
        let batch = Array(entries.prefix(Self.batch))
        entries.removeFirst(batch.count)
        handedOut += batch.count
        return batch
    }

    /// Says that the answer has ended.
    /// - Returns: what has not been handed out yet, and what the listing told beside its entries.
    /// - Throws: if the document is not complete or does not tell of the folder itself: such a listing is none, however many
    ///   entries it had.
    func finish() throws(ConnectionError) -> (rest: [ListedItem], listing: Listing, isForeign: Bool) {
        var failure: XMLReader.Malformed?
        do throws(XMLReader.Malformed) { try xml.finish() } catch { failure = error }
        try check(failure)
        guard let own else {
            throw violation("the answer does not tell of the folder itself", hint: "check the account's url")
        }
        if isForeign, handedOut + entries.count > 0 {
            throw violation("the folder is a calendar, an address book or a principal, and told so too late")
        }
        let rest = entries
        handedOut += rest.count
        let listing = Listing(
            folder: own, entries: handedOut, refused: refused, refusedCount: refusedCount, unknown: unknown,
            reachesGrandchildren: reachesGrandchildren)
        return (rest, listing, isForeign)
    }

    private func check(_ failure: XMLReader.Malformed?) throws(ConnectionError) {
        if let problem = multistatus.problem?.explanation { throw violation(problem.text, hint: problem.hint) }
        if let failure { throw violation(failure.explanation.text, hint: failure.explanation.hint) }
        for response in multistatus.take() { try add(response) }
    }

    private func add(_ response: DAVResponse) throws(ConnectionError) {
        hasFamilyProperties = hasFamilyProperties || response.hasFamilyProperties
        told += 1
        // The folder itself is one more.
        guard told <= limits.entries + 1 else {
            throw violation(
                "the folder has more than \(limits.entries) entries, the most that are taken",
                hint: "divide it into several folders on the server")
        }
        let path: ItemPath
        switch hrefs.place(of: response.href) {
        case .item(let found): path = found
        case .refused(let problem):
            refuse(response.href, problem)
            return
        case .elsewhere:
            throw violation(
                "the answer names \(PercentCoding.printable(response.href)), which is not below the account's address",
                hint: "check the account's url; a proxy may change paths")
        }
        let isTold =
            response.status.map { (200..<300).contains($0) } ?? (response.hasProperties && !response.kindIsUnknown)
        if path == folder {
            guard isTold else {
                throw ConnectionError(
                    status: response.status ?? 500, headers: [:], document: [], doing: "listing \(folder)",
                    at: answerer,
                    now: Timestamp(nanoseconds: 0))
            }
            own = response.item(at: path)
            isForeign = response.isForeign
            if isForeign { foreign.insert(path) }
            return
        }
        guard folder.isAncestor(of: path), depth == .infinity || path.parent == folder else {
            throw violation("the answer names \(PercentCoding.printable(path.text)), which was not asked for")
        }
        if isInForeign(path) { return }
        if response.isForeign {
            foreign.insert(path)
        } else if isTold {
            if path.parent != folder { reachesGrandchildren = true }
            entries.append(response.item(at: path))
        } else if response.status != 404, response.status != 410 {
            unknown.append(path)
            guard unknown.count <= limits.unknown else {
                throw violation(
                    "the server told an error instead of properties for more than \(limits.unknown) entries",
                    hint: "look into the server's log")
            }
        }
    }

    private func refuse(_ href: String, _ problem: ItemPath.Problem) {
        refusedCount += 1
        guard refused.count < limits.namedRefusals else { return }
        let isLong = href.utf8.count > limits.shownAddress
        // A part of a character at the end is shown as what it is: bytes.
        let shown = String(decoding: href.utf8.prefix(limits.shownAddress), as: UTF8.self)
        refused.append(UnusableEntry(href: PercentCoding.printable(shown) + (isLong ? "…" : ""), problem: problem))
    }

    private func isInForeign(_ path: ItemPath) -> Bool {
        guard !foreign.isEmpty else { return false }
        var above = path
        while !above.isRoot {
            above = above.parent
            if foreign.contains(above) { return true }
        }
        return false
    }

    private func violation(_ message: String, hint: String? = nil) -> ConnectionError {
        ConnectionError(.protocolViolation, "listing \(folder) at \(answerer): \(message)", hint: hint)
    }
}

extension DAVResponse {
    /// The properties as values; what makes no sense counts as not told.
    fileprivate func item(at path: ItemPath) -> ListedItem {
        let isFolder = isCollection || (!hasKind && href.hasSuffix("/"))
        let modified = lastModified.flatMap { Timestamp(httpDate: $0) }
        let size = (isFolder ? self.size : length ?? self.size).flatMap { OutsideNumber.size($0) }
        // A folder's size and date tell nothing of what is in it: they make no version.
        let version =
            etag.flatMap { ETag(field: $0) } ?? (isFolder ? nil : .substitute(size: size, lastModified: modified))
        return ListedItem(
            path: path, kind: isFolder ? .folder : .file, fileID: id.flatMap { $0.isEmpty ? nil : FileID($0) },
            etag: version,
            size: size, lastModified: modified, mimeType: isFolder ? nil : contentType.flatMap(MediaType.bare),
            isFavorite: favorite == "1" || favorite == "true", owner: ownerID.flatMap { $0.isEmpty ? nil : $0 },
            permissions: permissions.flatMap { $0.isEmpty ? nil : $0 })
    }
}

enum MediaType {
    /// `text/plain` of `Text/Plain; charset=utf-8`.
    static func bare(_ field: String) -> String? {
        let type = field.prefix { $0 != ";" && $0 != " " }.lowercased()
        return type.isEmpty ? nil : type
    }
}
