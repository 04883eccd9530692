import NIOCore
import NIOPosix

/// A thread on which answers arrive, and on which tasks can run.
///
/// A task that runs where its answer arrives gets the bytes without a change of threads. Tasks on the threads for
/// downloads may block on the disk. That delays other downloads only, which wait for the same disk.
final class NetworkThread: TaskExecutor {
    let loop: any EventLoop

    private init(_ loop: any EventLoop) { self.loop = loop }

    /// The thread for everything that must not wait for a disk. One thread is fast enough for many connections.
    static let common = NetworkThread(group.next())
    /// The threads for downloads. A few are enough, because each works without waiting for another.
    static let downloads = (0..<downloadThreads).map { _ in NetworkThread(group.next()) }

    private static let downloadThreads = min(4, max(2, System.coreCount))
    /// The group of threads. It lives as long as the process, so that no task is left on a thread that has ended.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1 + downloadThreads)

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

extension Connection {
    /// Starts the threads on which answers arrive, if that was not done yet. It is done before accounts are opened: the
    /// threads take descriptors, and without them the process cannot go on.
    public static func startThreads() { _ = (NetworkThread.common, NetworkThread.downloads) }
}
