import Glibc

/// The time that passes for the calling thread: all but that in which it could have run and had no processor.
enum LentTime {
    /// The time since the machine's start, less what the thread has waited for a processor. A kernel that does not tell the
    /// latter counts it as time of the thread.
    static var now: Duration {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec - waited)
    }

    /// The nanoseconds in which the thread has waited for a processor (the kernel's sched-stats.rst).
    private static var waited: Int {
        let file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return 0 }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(file, &bytes, bytes.count)
        guard count > 0 else { return 0 }
        let numbers = String(decoding: bytes[..<count], as: UTF8.self).split(whereSeparator: \.isWhitespace)
        return numbers.count > 1 ? Int(numbers[1]) ?? 0 : 0
    }
}
