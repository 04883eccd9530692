import Core
import Model

/// The rates and the times left of transfers that somebody watches. A value without I/O.
struct TransferRates {
    /// A file under way, with its rate in bytes a second and the time that is left, as far as they are known.
    struct File: Equatable {
        var transfer: TransferUnderWay
        var rate: Double?
        var left: Duration?
    }

    private var all = Progress()
    private var each: [SyncRecordID: Progress] = [:]
    private var transfers: [TransferUnderWay] = []

    /// Adds what is under way at a time.
    /// - Parameter time: the time of a clock that never jumps.
    mutating func add(_ progress: TransferProgress, _ transfers: [TransferUnderWay], at time: Duration) {
        // An account that was opened anew, or a transfer that was stopped, counts anew.
        if progress.bytesDone < all.counts.bytes { all = Progress() }
        all.add(Progress.Counts(progress), at: time)
        self.transfers = transfers
        let before = each
        each = [:]
        for transfer in transfers {
            var file = before[transfer.record] ?? Progress()
            if transfer.bytes < file.counts.bytes { file = Progress() }
            file.add(
                .init(files: 0, allFiles: 1, bytes: transfer.bytes, allBytes: transfer.size ?? 0), at: time)
            each[transfer.record] = file
        }
    }

    /// The rate of all transfers in bytes a second, and the time until the last one is done.
    var total: (rate: Double?, left: Duration?) { (all.rate, all.left) }

    var files: [File] {
        transfers.map { transfer in
            let progress = each[transfer.record]
            return File(
                transfer: transfer, rate: progress?.rate, left: transfer.size == nil ? nil : progress?.left)
        }
    }

    /// The line about all transfers; nil if nothing is left to transfer.
    func line(width: Int) -> String? { all.line(width: width) }
}

extension Progress.Counts {
    init(_ progress: TransferProgress) {
        self.init(
            files: Int64(progress.filesDone), allFiles: Int64(progress.filesTotal), bytes: progress.bytesDone,
            allBytes: progress.bytesTotal)
    }
}
