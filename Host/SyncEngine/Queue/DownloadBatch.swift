import Connection
import Database
import LocalTree
import Model

/// Small downloads that are requested together, in the journal's order: see ``JournalTable/eachRow(after:_:)``. It is made
/// once and not changed, so that those who handle its files refer to them by number.
final class DownloadBatch: Sendable {
    /// A download.
    struct Entry: Sendable {
        var record: SyncRecordID
        var item: ItemRowID
        var localID: LocalID
        var lastModified: Timestamp
        var reason: DownloadTrigger
        var whileCovered: Bool
    }

    let entries: [Entry]
    let files: FileBatch
    /// The size of all files in bytes.
    let bytes: Int64
    /// The version of what policies cover, by which all files were covered; nil if there are no versions.
    let coverage: Int?

    init(_ entries: [Entry], _ files: FileBatch, coverage: Int?) {
        (self.entries, self.files, self.coverage) = (entries, files, coverage)
        bytes = files.files.reduce(0) { $0.adding($1.size) }
    }

    var count: Int { entries.count }

    /// Returns the path that the item had when the batch was read.
    func path(of file: Int) -> ItemPath { files.path(of: file) }

    /// Returns the version that is downloaded.
    func version(of file: Int) -> ETag { files.version(of: file) }

    /// The name of a download in `incoming/`.
    func incomingName(of file: Int) -> String {
        Job.incomingName(of: entries[file].record, version: files.version(of: file))
    }

    /// Returns the batch of the downloads that meet a condition; nil if none does.
    func only(where isMeant: (_ file: Int, Entry) -> Bool) -> DownloadBatch? {
        var kept = Builder(coverage: coverage)
        for (index, entry) in entries.enumerated() where isMeant(index, entry) {
            files.withTexts(of: index) { _ = kept.add(entry, path: $0, version: $1, size: files.files[index].size) }
        }
        return kept.count == count ? self : kept.batch
    }

    /// A batch that is being made.
    struct Builder {
        private var entries: [Entry] = []
        private var files = FileBatch()
        private let coverage: Int?

        init(coverage: Int?) { self.coverage = coverage }

        var count: Int { entries.count }

        /// Adds a download.
        /// - Returns: False if the file's ETag cannot stand in a request.
        mutating func add(
            _ entry: Entry, path: UnsafeRawBufferPointer, version: UnsafeRawBufferPointer, size: Int64
        ) -> Bool {
            guard files.add(path: path, version: version, size: size) else { return false }
            entries.append(entry)
            return true
        }

        /// The batch; nil if it would be empty.
        var batch: DownloadBatch? { entries.isEmpty ? nil : DownloadBatch(entries, files, coverage: coverage) }
    }
}

/// A download of a batch that is complete in `incoming/`.
struct BatchArrival: Sendable {
    var batch: DownloadBatch
    var file: Int
    var result: IncomingResult

    var entry: DownloadBatch.Entry { batch.entries[file] }
    var record: SyncRecordID { entry.record }
    var path: ItemPath { batch.path(of: file) }
    var incomingName: String { batch.incomingName(of: file) }

    /// Returns the download as the database knows it.
    /// - Parameter mark: The file's mark where it is.
    func download(mark: FileMark) -> BatchedDownload {
        BatchedDownload(
            record: record, item: entry.item, path: path, version: batch.version(of: file).opaque,
            digest: result.digest.bytes, mark: mark)
    }
}

/// A download of a batch that is in place, but whose item does not say so yet.
struct BatchPlaced: Sendable {
    var arrival: BatchArrival
    var mark: FileMark
}
