import CLinux
import Glibc

/// The changes to the whole process, made once.
///
/// `main` makes the changes first. Code that relies on them requests them too, so that it never runs without them.
public enum ProcessSetup {
    /// Makes the changes, unless they were made already.
    public static func perform() { _ = isDone }

    private static let isDone: Bool = {
        // Where a standard stream is closed, the next descriptor would get its number, and what is written to the stream
        // would go there.
        for number in 0...2 where fcntl(Int32(number), F_GETFD) < 0 { _ = open("/dev/null", O_RDWR) }
        // The kernel reports the end of a lease by this signal, which would end the process.
        signal(SIGIO, SIG_IGN)
        // A core dump would hold the account's secret.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // That limit does not hold for a core that the kernel hands to a program (core(5)).
        _ = linux_forbid_dumps()
        // A host has some twenty threads, of which few allocate at a time. Without these two calls each thread keeps
        // memory of its own, a tenth of the process's memory in all. Both calls are hints.
        _ = linux_limit_arenas(2)
        _ = linux_map_blocks_from(131_072)
        return true
    }()
}
