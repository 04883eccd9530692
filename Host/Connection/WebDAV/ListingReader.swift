import Model
import Transfer

/// A reader that makes the entries of a listing from a server's answer as it arrives. Two threads must not use it at
/// the same time.
final class ListingReader {
    private let folder: ItemPath
    private let depth: Depth
    private let hrefs: HrefReader
    private let multistatus: Multistatus<ListedResponseBuilder>
    private let xml: XMLReader
    private let answerer: ServerAddress.Origin

    /// The folder itself; nil until the answer has told about the folder.
    private(set) var own: ListedItem?
    /// The properties of the folder itself, as texts.
    private(set) var ownResponse: DAVResponse?
    private(set) var isForeign = false
    /// Whether anything in the answer has a property of the ownCloud family.
    private(set) var hasFamilyProperties = false
    private var entries: [ListedItem] = []
    private var handedOut = 0
    private let limits: ListingLimits
    /// Whether the server is known to be of the ownCloud family.
    private let isFamily: Bool
    /// The number of responses so far, of any kind.
    private var told = 0
    private var refused: [UnusableEntry] = []
    private var refusedCount = 0
    private var unknown: [ItemPath] = []
    private var leftOut: [ItemPath] = []
    private var reachesGrandchildren = false
    /// The calendars, address books and principals. `Depth.infinity` lists their contents after them.
    private var foreign: Set<ItemPath> = []
    private var foreignEntries: [ItemPath] { foreign.filter { $0 != folder }.sorted() }

    /// Creates a reader for the listing of a folder.
    /// - Parameters:
    ///   - folder: The folder to list.
    ///   - depth: The depth of the request.
    ///   - root: The address of the account's root, with a closing slash.
    ///   - asked: The address that was requested.
    ///   - isFamily: Whether the server is known to be of the ownCloud family.
    ///   - limits: The limits of the listing.
    init(
        _ folder: ItemPath, depth: Depth, root: ServerAddress, asked: ServerAddress, isFamily: Bool = false,
        limits: ListingLimits = ListingLimits()
    ) throws(ConnectionError) {
        self.isFamily = isFamily
        self.limits = limits
        self.folder = folder
        self.depth = depth
        answerer = root.origin
        hrefs = HrefReader(root: root, asked: asked)
        multistatus = Multistatus(ListedResponseBuilder(), longestGap: limits.longestGap)
        do { xml = try XMLReader(handler: multistatus) } catch {
            throw ConnectionError(
                .protocolViolation, "the answer about \(folder) at \(root.origin) cannot be read: \(error.reason)")
        }
    }

    /// The number of entries that are passed on at a time.
    static let batch = 512

    /// Reads the next piece of the answer.
    func read(_ chunk: [UInt8]) throws(ConnectionError) {
        let failure: XMLReader.Malformed? = chunk.withUnsafeBytes { bytes in
            do throws(XMLReader.Malformed) { try xml.read(bytes) } catch { return error }
            return nil
        }
        try check(failure)
    }

    var hasBatch: Bool { entries.count >= Self.batch }

    /// Returns the next entries; nil if there are not enough for a batch.
    func nextBatch() -> [ListedItem]? {
        guard hasBatch else { return nil }
        let batch = Array(entries.prefix(Self.batch))
        entries.removeFirst(batch.count)
        handedOut += batch.count
        return batch
    }

    /// Finishes reading at the end of the answer.
    /// - Returns: The entries that have not been passed on yet, and what the listing told beside its entries.
    /// - Throws: `protocolViolation` if the document is not complete or does not tell about the folder itself. Such a
    ///   listing counts as none, however many entries it had.
    func finish() throws(ConnectionError) -> (rest: [ListedItem], listing: Listing, isForeign: Bool) {
        var failure: XMLReader.Malformed?
        do throws(XMLReader.Malformed) { try xml.finish() } catch { failure = error }
        try check(failure)
        guard let own else {
            throw violation("the answer does not include the folder itself", hint: "check the account's url")
        }
        if isForeign, handedOut + entries.count > 0 {
            throw violation("the answer says too late that the folder is a calendar, an address book or a principal")
        }
        let rest = entries
        handedOut += rest.count
        let listing = Listing(
            folder: own, entries: handedOut, refused: refused, refusedCount: refusedCount, unknown: unknown,
            isForeign: isForeign, foreign: foreignEntries, leftOut: leftOut, reachesGrandchildren: reachesGrandchildren)
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
        // The folder itself counts as one more.
        guard told <= limits.entries + 1 else {
            throw violation(
                "the folder has more than \(limits.entries) entries, which is the limit",
                hint: "divide it into several folders on the server")
        }
        let path: ItemPath
        switch hrefs.place(of: response.href) {
        case .item(let found): path = found.spelled(as: folder)
        case .refused(let problem):
            refuse(response.href, problem)
            return
        case .elsewhere:
            throw violation(
                "the answer names \(PercentCoding.printable(response.href)), which is not below the account's address",
                hint: "check the account's url; a proxy may change paths")
        }
        let isPhantom = isFamily && response.isPhantom
        let status = isPhantom ? 404 : response.status
        let isTold = status.map { (200..<300).contains($0) } ?? (response.hasProperties && !response.kindIsUnknown)
        if path == folder {
            guard isTold else {
                throw ConnectionError(
                    status: status ?? 500, headers: [:], document: [], doing: "listing \(folder)",
                    at: answerer,
                    now: Timestamp(nanoseconds: 0))
            }
            own = response.item(at: path)
            ownResponse = response
            isForeign = response.isForeign
            if isForeign { foreign.insert(path) }
            return
        }
        let isChild = folder.isParent(of: path)
        guard isChild || depth == .infinity && folder.isAncestor(of: path) else {
            throw violation("the answer names \(PercentCoding.printable(path.text)), which was not requested")
        }
        if isInForeign(path) { return }
        if response.isForeign {
            foreign.insert(path)
        } else if isTold {
            if !isChild { reachesGrandchildren = true }
            entries.append(response.item(at: path))
        } else if status == 404 || status == 410 {
            leftOut.append(path)
        } else {
            unknown.append(path)
            guard unknown.count <= limits.unknown else {
                throw violation(
                    "the server answered with an error instead of properties for more than \(limits.unknown) entries",
                    hint: "check the server's log")
            }
        }
    }

    private func refuse(_ href: String, _ problem: ItemPath.Problem) {
        refusedCount += 1
        guard refused.count < limits.namedRefusals else { return }
        let shown = PercentCoding.readable(href.utf8, atMost: limits.shownAddress)
        refused.append(UnusableEntry(href: shown, problem: problem))
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
    /// Returns the properties as values. A value that cannot be read counts as missing.
    fileprivate func item(at path: ItemPath) -> ListedItem {
        let isFolder = isCollection || (!hasKind && href.hasSuffix("/"))
        let modified = lastModified.flatMap { Timestamp(httpDate: $0) }
        let size = (isFolder ? self.size : length ?? self.size).flatMap { OutsideNumber.size($0) }
        // A folder's size and date say nothing about its contents, so they make no version.
        let version =
            etag.flatMap { ETag(field: $0) } ?? (isFolder ? nil : .substitute(size: size, dateText: lastModified))
        return ListedItem(
            path: path, kind: isFolder ? .folder : .file, fileID: id.flatMap { $0.isEmpty ? nil : FileID($0) },
            etag: version,
            size: size, lastModified: modified, mimeType: isFolder ? nil : contentType.flatMap(MediaType.bare),
            isFavorite: favorite == "1" || favorite == "true", owner: ownerID.flatMap { $0.isEmpty ? nil : $0 },
            permissions: permissions.flatMap { $0.isEmpty ? nil : $0 })
    }
}

enum MediaType {
    /// Returns `text/plain` for `Text/Plain; charset=utf-8`.
    static func bare(_ field: String) -> String? {
        let type = field.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
        guard !type.isEmpty else { return nil }
        // Most servers send it so.
        if type.endIndex == field.endIndex, type.allSatisfy({ $0 < 0x80 && !(0x41...0x5a).contains($0) }) {
            return field
        }
        return Substring(type).lowercased()
    }
}
