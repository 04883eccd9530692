import Connection
import Database
import LocalTree
import Model

/// Small downloads that are requested together, in the journal's order: see ``JournalTable/eachRow(after:_:)``; or
/// uploaded files, of any size, that are put in place together. It is made once and not changed, so that those who handle
/// its files refer to them by number.
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
    /// The strength of all files' ETags. Only files with strong ones are requested.
    private let strength: ETag.Strength

    init(_ entries: [Entry], _ files: FileBatch, coverage: Int?, strength: ETag.Strength = .strong) {
        (self.entries, self.files, self.coverage, self.strength) = (entries, files, coverage, strength)
        bytes = files.files.reduce(0) { $0.adding($1.size) }
    }

    var count: Int { entries.count }

    /// Returns the path that the item had when the batch was read.
    func path(of file: Int) -> ItemPath { files.path(of: file) }

    /// Returns the version that is downloaded, or was uploaded.
    func version(of file: Int) -> ETag { ETag(opaque: files.version(of: file).opaque, strength: strength) }

    /// The name of a download in `incoming/`.
    func incomingName(of file: Int) -> String {
        Job.incomingName(of: entries[file].record, version: version(of: file))
    }

    /// Returns the batch of the downloads that meet a condition; nil if none does.
    func only(where isMeant: (_ file: Int, Entry) -> Bool) -> DownloadBatch? {
        var kept = Builder(coverage: coverage, strength: strength)
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
        private let strength: ETag.Strength

        init(coverage: Int?, strength: ETag.Strength = .strong) {
            (self.coverage, self.strength) = (coverage, strength)
        }

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
        var batch: DownloadBatch? {
            entries.isEmpty ? nil : DownloadBatch(entries, files, coverage: coverage, strength: strength)
        }
    }
}

/// A download of a batch that is complete in `incoming/`.
struct BatchArrival: Sendable {
    var batch: DownloadBatch
    var file: Int
    var result: IncomingResult
    /// Whether the file was uploaded from here, so that its record says already that the download is complete.
    var isUploaded = false

    var entry: DownloadBatch.Entry { batch.entries[file] }
    var record: SyncRecordID { entry.record }
    var path: ItemPath { batch.path(of: file) }
    var incomingName: String { batch.incomingName(of: file) }

    /// Returns the download as the database knows it.
    /// - Parameter mark: The file's mark where it is.
    func download(mark: FileMark) -> BatchedDownload {
        BatchedDownload(
            record: record, item: entry.item, path: path, version: batch.version(of: file),
            digest: result.digest.bytes, mark: mark, isRecorded: isUploaded)
    }
}

/// A download of a batch that is in place, but whose item does not say so yet.
struct BatchPlaced: Sendable {
    var arrival: BatchArrival
    var mark: FileMark
}
