import Threads

/// The body of a request that is handed over piece by piece: a task offers the bytes, and the network takes them.
package final class UploadFeed: Sendable {
    private struct State: Sendable {
        var offered: [UInt8] = []
        /// The number of the offered bytes that the network has got.
        var position = 0
        var offeredTotal: Int64 = 0
        var sentTotal: Int64 = 0
        /// Whether the network waits for bytes.
        var isPaused = false
        var isOver = false
        var transfer: Transfer?
    }

    /// The size of the whole body in bytes.
    let size: Int64
    private let state = Monitor(State())

    package init(size: Int64) { self.size = size }

    func attach(_ transfer: Transfer) { state.change { $0.transfer = transfer } }

    /// Offers the next bytes. Those before must have been sent.
    package func offer(_ bytes: [UInt8]) {
        let transfer = state.change { state -> Transfer? in
            (state.offered, state.position) = (bytes, 0)
            state.offeredTotal += Int64(bytes.count)
            guard state.isPaused else { return nil }
            state.isPaused = false
            return state.transfer
        }
        transfer?.hasMore()
    }

    /// Waits until the network has sent what it was offered.
    /// - Throws: `CancellationError` as soon as the task is cancelled, or the request has ended before.
    package func untilSent() async throws(CancellationError) {
        try await state.waitUnlessCancelled { $0.isOver || $0.sentTotal >= $0.offeredTotal }
        guard state.with({ $0.sentTotal >= $0.offeredTotal }) else { throw CancellationError() }
    }

    /// Takes bytes that were offered.
    /// - Returns: Their number; nil if there are none now.
    func take(into memory: UnsafeMutableRawBufferPointer) -> Int? {
        state.change { state in
            let count = min(memory.count, state.offered.count - state.position)
            guard count > 0 else {
                state.isPaused = true
                return nil
            }
            state.offered.withUnsafeBytes {
                memory.copyMemory(from: .init(rebasing: $0[state.position..<state.position + count]))
            }
            state.position += count
            return count
        }
    }

    /// Notes how many bytes have been sent.
    func wasSent(_ total: Int64) {
        guard state.with({ $0.sentTotal < total }) else { return }
        state.change { $0.sentTotal = total }
    }

    /// Notes that the request has ended.
    func end() { state.change { ($0.isOver, $0.transfer) = (true, nil) } }
}
