import Database
import Model

/// The ordinary downloads of a page of the journal, as they are gathered: see ``JournalTable/eachRow(after:_:)``. Of those
/// that are ordinary by their rows, it leaves out what has to wait, or may no longer be wanted.
struct OrdinaryDownloads {
    private let context: ActionContext
    private let isCovered: @Sendable (Item, DownloadTrigger) throws -> Bool?
    /// Whether a path may be held by the copy of a removed item; nil if there is no such copy.
    private let isHeld: ((ItemPath) throws -> Bool)?
    /// The paths at which the server is about to be changed, as text.
    private let changes: [[UInt8]]
    private var rows: DownloadBatch.Builder

    /// The number of changes up to which each download's path is compared with theirs.
    static let mostChanges = 64

    init(
        _ context: ActionContext, _ changes: [ItemPath], _ isHeld: ((ItemPath) throws -> Bool)?,
        _ partners: any EnginePartners
    ) {
        (self.context, isCovered, self.isHeld) = (context, partners.covers, isHeld)
        self.changes = changes.map { Array($0.text.utf8) }
        rows = DownloadBatch.Builder(coverage: partners.coverageVersion)
    }

    var count: Int { rows.count }
    var batch: DownloadBatch? { rows.batch }

    /// Takes a row's download, if it is ordinary and there is room for it.
    /// - Returns: Whether it was taken.
    mutating func take(_ row: JournalRow, on page: inout JournalPage) throws -> Bool {
        guard row.isOrdinary else { return false }
        let (reason, whileCovered) = (row.reason, row.isWhileCovered)
        if whileCovered, try isCovered(row.wholeItem(), reason) != true { return false }
        if let isHeld, try isHeld(row.wholeItem().path) { return false }
        return row.withTexts { path, version in
            guard !changes.contains(where: { Self.isAtOrAbove($0, path) }),
                page.takesRoom(row.size, for: context.gauge.owner(row.id))
            else { return false }
            return rows.add(
                .init(
                    record: row.id, item: row.item, localID: row.localID, lastModified: row.lastModified,
                    reason: reason, whileCovered: whileCovered),
                path: path, version: version, size: row.size)
        }
    }

    private static func isAtOrAbove(_ change: [UInt8], _ path: UnsafeRawBufferPointer) -> Bool {
        guard path.starts(with: change) else { return false }
        return path.count == change.count || change.last == UInt8(ascii: "/") || path[change.count] == UInt8(ascii: "/")
    }
}
