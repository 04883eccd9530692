import NIOCore
import NIOPosix

/// A thread that answers arrive on, for tasks to run on.
///
/// A task that runs where its answer arrives gets the bytes without a change of threads. Tasks on the threads for downloads may block
/// on the disk: that holds up other downloads alone, which wait for the same disk.
final class NetworkThread: TaskExecutor {
    let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    /// For all that must not wait for a disk: one is fast enough for many connections.
    static let common = NetworkThread(group.next())
    /// Few: each works without waiting for anybody.
    static let downloads = (0..<downloadThreads).map { _ in NetworkThread(group.next()) }

    private static let downloadThreads = min(4, max(2, System.coreCount))
    /// As long as the process lives, so that no task is ever left on a thread that has ended.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1 + downloadThreads)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
