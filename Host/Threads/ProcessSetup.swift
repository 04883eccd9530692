import CLinux
import Glibc

/// What is changed of the whole process, once.
///
/// `main` does it first. What relies on it asks for it too, so that nothing works without it.
public enum ProcessSetup {
    /// Makes the changes, if they were not made yet.
    public static func perform() { _ = isDone }

    private static let isDone: Bool = {
        // The end of a lease is told by this signal, which would end the process.
        signal(SIGIO, SIG_IGN)
        // A core dump would hold the account's secret.
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        // A host has some twenty threads, of which few allocate at a time: without these two each keeps memory of its own, a tenth of the
        // whole. Both are hints.
        _ = linux_limit_arenas(2)
        _ = linux_map_blocks_from(131_072)
        return true
    }()
}
