import Model
import Synchronization

/// A batch of transfers, which knows those that are under way.
protocol TransferBatch: AnyObject, Sendable {
    var transfers: [TransferUnderWay] { get }
}

extension BatchDownload: TransferBatch {}
extension BatchUpload: TransferBatch {}

/// The transfers that are under way, for those who watch them. Callable from any thread.
final class UnderWay: Sendable {
    /// A transfer, and the bytes of it that are done.
    final class Transfer: Sendable {
        private let begun: TransferUnderWay
        private let bytes = Atomic<Int64>(0)

        fileprivate init(_ begun: TransferUnderWay) { self.begun = begun }

        func add(_ count: Int64) { bytes.add(count, ordering: .relaxed) }

        fileprivate var now: TransferUnderWay {
            var now = begun
            now.bytes = bytes.load(ordering: .relaxed)
            return now
        }
    }

    private let begun = Mutex<[SyncRecordID: Transfer]>([:])
    private let batches = Mutex<[any TransferBatch]>([])

    /// - Parameter size: The number of bytes that the whole transfer has; nil if it is not known.
    func begin(_ direction: TransferUnderWay.Direction, of job: Job, size: Int64?) -> Transfer {
        let transfer = Transfer(
            TransferUnderWay(direction, record: job.id, path: job.path, bytes: 0, size: size))
        begun.withLock { $0[job.id] = transfer }
        return transfer
    }

    func end(_ record: SyncRecordID) { begun.withLock { $0[record] = nil } }

    func begin(_ batch: any TransferBatch) { batches.withLock { $0.append(batch) } }

    func end(_ batch: any TransferBatch) { batches.withLock { $0.removeAll { $0 === batch } } }

    /// The transfers, the oldest record first.
    var transfers: [TransferUnderWay] {
        let inBatches = batches.withLock(\.self).flatMap(\.transfers)
        return (begun.withLock { Array($0.values) }.map(\.now) + inBatches)
            .sorted { $0.record.number < $1.record.number }
    }
}
