import CLinux
import Glibc
import Synchronization

/// The signals of the system that the process gets, as they come. From the time at which the value is made, they do nothing
/// else. Several signals that come before they are read may count as one.
///
/// ```swift
/// for await _ in try Signals([SIGHUP]) { reload() }
/// ```
public struct Signals: AsyncSequence, Sendable {
    /// The number of times that each signal came.
    fileprivate typealias Counts = [Int32: UInt]

    private let signals: [Int32]
    private let seen: Counts
    private let heard: Heard

    /// - Parameter signals: The numbers of signals that can be caught.
    /// - Throws: ``ThreadError`` if the system lacks a thread or a descriptor.
    public init(_ signals: [Int32]) throws(ThreadError) {
        self.signals = signals
        heard = try Heard.shared()
        seen = heard.counts.with(\.self)
        for signal in signals { try heard.heed(signal) }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(signals: signals, seen: seen, heard: heard) }

    /// The signals that came since the sequence was made. The iteration ends when its task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let signals: [Int32]
        fileprivate var seen: Counts
        fileprivate let heard: Heard

        /// Waits for the next signal.
        /// - Returns: Its number; nil if the task was cancelled.
        public mutating func next() async -> Int32? {
            let (signals, seen) = (signals, seen)
            do throws(CancellationError) {
                try await heard.counts.waitUnlessCancelled { counts in signals.contains { counts[$0] != seen[$0] } }
            } catch { return nil }
            let counts = heard.counts.with(\.self)
            guard let signal = signals.first(where: { counts[$0] != seen[$0] }) else { return nil }
            self.seen[signal] = counts[signal]
            return signal
        }
    }

    /// What the process was sent. It lives as long as the process.
    fileprivate final class Heard: Sendable {
        static func shared() throws(ThreadError) -> Heard {
            try made.withLock { heard throws(ThreadError) in
                if let heard { return heard }
                let new = try Heard()
                heard = new
                return new
            }
        }

        private static let made = Mutex<Heard?>(nil)

        let counts = Monitor(Counts())
        private let writing: Int32

        private init() throws(ThreadError) {
            var ends: [Int32] = [0, 0]
            guard linux_pipe_cloexec(&ends) == 0 else { throw ThreadError(code: errno) }
            for end in ends { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
            writing = ends[1]
            let reading: PolledSocket
            do throws(ThreadError) { reading = try PolledSocket(ends[0]) } catch {
                close(writing)
                throw error
            }
            Task { [counts] in
                while let numbers = try? await reading.read(atMost: 64), !numbers.isEmpty {
                    counts.change { counts in for number in numbers { counts[Int32(number), default: 0] += 1 } }
                }
            }
        }

        func heed(_ signal: Int32) throws(ThreadError) {
            guard linux_heed_signal(signal, writing) == 0 else { throw ThreadError(code: errno) }
        }
    }
}
