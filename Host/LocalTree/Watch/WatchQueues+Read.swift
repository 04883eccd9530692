import Glibc
import Synchronization

/// The thread that reads the queues.
extension WatchQueues {
    /// The number of times that a queue of uses is read before the thread does other work.
    private static let mostReads = 64

    /// Reads the queues until there is none.
    func read() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
        defer { buffer.deallocate() }
        while let (queues, after) = takeQueues() {
            var sources = ([wakeUp.withLock { $0?.end ?? -1 }] + queues.map(\.descriptor)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&sources, nfds_t(sources.count), after.isEmpty ? -1 : 0) > 0 || !after.isEmpty else { continue }
            if sources[0].revents != 0 { Glibc.read(sources[0].fd, buffer.baseAddress, buffer.count) }
            for (queue, source) in zip(queues, sources.dropFirst()) where source.revents != 0 || !after.isEmpty {
                // What asks for everything is small: a read of a queue that is never empty must end too.
                let reads = queue.kind == .uses || !after.isEmpty ? Self.mostReads : 1
                read(queue.number, queue.descriptor, queue.kind, reads, into: buffer)
            }
            for body in after { body() }
        }
    }

    private struct Open {
        var number: Int
        var descriptor: Int32
        var kind: Kind
    }

    /// Closes the queues that have no watcher any more.
    /// - Returns: The queues to be read, and what is to be called when all of them have been read: each queue that was
    ///   there when somebody asked for a call is among them. Nil if the thread ends.
    private func takeQueues() -> (queues: [Open], after: [@Sendable () -> Void])? {
        state.withLock { state in
            for descriptor in state.closing { close(descriptor) }
            state.closing = []
            guard !state.queues.isEmpty || !state.after.isEmpty else {
                state.isReading = false
                return nil
            }
            defer { state.after = [] }
            let queues = state.queues.map { Open(number: $0.key, descriptor: $0.value.descriptor, kind: $0.value.kind) }
            return (queues, state.after)
        }
    }

    private func read(
        _ number: Int, _ descriptor: Int32, _ kind: Kind, _ reads: Int, into buffer: UnsafeMutableRawBufferPointer
    ) {
        // The closed files are listed before the queue is read. All their events are in the queue now.
        let users = kind == .uses ? state.withLock { $0.queues[number]?.members.values.map(\.self) ?? [] } : []
        let closed = users.map { $0.tree.ownOpens.closed() }
        var last: WatchEvent?
        for _ in 0..<reads {
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            guard count > 0 else {
                for (user, closed) in zip(users, closed) where !closed.isEmpty { user.receive(closed: closed) }
                return
            }
            var events = WatchEvent.all(in: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if kind == .uses {
                // A file that is being read causes one event after the other.
                events.removeAll { event in
                    defer { last = event }
                    return last.map { $0.watch == event.watch && $0.name == event.name } ?? false
                }
            }
            state.withLock { $0.queues[number]?.hand(events, most: Self.mostEarly) }
        }
    }
}
