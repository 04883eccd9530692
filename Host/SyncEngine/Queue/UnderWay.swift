public import Model
import Synchronization

/// The downloads that are under way, for those who watch them. Callable from any thread.
final class UnderWay: Sendable {
    /// A download, and the bytes of it that are here.
    final class Download: Sendable {
        fileprivate let job: Job
        private let bytes = Atomic<Int64>(0)

        fileprivate init(_ job: Job) { self.job = job }

        func add(_ count: Int64) { bytes.add(count, ordering: .relaxed) }

        fileprivate var transfer: TransferUnderWay {
            TransferUnderWay(record: job.id, path: job.path, bytes: bytes.load(ordering: .relaxed), size: job.size)
        }
    }

    private let downloads = Mutex<[SyncRecordID: Download]>([:])

    func begin(_ job: Job) -> Download {
        let download = Download(job)
        downloads.withLock { $0[job.id] = download }
        return download
    }

    func end(_ record: SyncRecordID) { downloads.withLock { $0[record] = nil } }

    /// The downloads, the oldest record first.
    var transfers: [TransferUnderWay] {
        downloads.withLock { Array($0.values) }.map(\.transfer).sorted { $0.record.number < $1.record.number }
    }
}

extension SyncEngine {
    /// The downloads that are under way, the oldest record first.
    public var transfers: [TransferUnderWay] { underWay.transfers }
}
