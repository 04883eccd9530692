import Glibc
import Model
import Synchronization
import TestSupport
import Testing

@testable import Connection

/// Tests of the threads that receive the bytes of downloads.
struct DownloadThreadTests {
    /// A sink that records the threads on which it is called and blocks before the first byte until its gate opens.
    private final class Sink: DownloadSink, Sendable {
        let threads = Mutex<Set<pthread_t>>([])
        let bytes = Mutex<Int>(0)
        let gate = Gate()

        func begin(_ head: DownloadHead) {
            threads.withLock { _ = $0.insert(pthread_self()) }
            gate.passOnThread()
        }

        func write(_ bytes: UnsafeRawBufferPointer) {
            threads.withLock { _ = $0.insert(pthread_self()) }
            self.bytes.withLock { $0 += bytes.count }
        }
    }

    @Test(
        "A download on a thread of its own gets all its bytes there, and what it waits for there holds nobody else up",
        .timeLimit(.minutes(20)))
    func ownThread() async throws {
        let text = String(repeating: "0123456789", count: 100_000)
        let kind = try #require(ServerKind.all.last)
        try await Served.running(kind, ["a.txt": text, "b.txt": text]) { _, connection in
            _ = try await connection.connect()
            let threads = connection.downloads.downloadThreads
            try #require(threads.count >= 2)
            let sinks = [Sink(), Sink()]
            let downloads = ["/a.txt", "/b.txt"].enumerated().map { index, path in
                Task(executorPreference: threads[index]) { [sink = sinks[index]] in
                    _ = try await connection.downloads.get(try ItemPath(path), into: sink)
                }
            }
            // Both downloads have an answer and block their threads. The work on other threads continues.
            for sink in sinks { await sink.gate.untilReached() }
            _ = try await connection.connect()
            // The download on the other thread continues too.
            for (sink, download) in zip(sinks, downloads).reversed() {
                sink.gate.open()
                try await download.value
                #expect(sink.bytes.withLock { $0 } == text.utf8.count)
                #expect(sink.threads.withLock(\.count) == 1)
            }
            #expect(sinks[0].threads.withLock { $0 }.isDisjoint(with: sinks[1].threads.withLock { $0 }))
        }
    }
}
