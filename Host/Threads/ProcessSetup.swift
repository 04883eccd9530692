import CLinux
import Glibc

/// The changes to the whole process, made once.
///
/// `main` makes the changes first. Code that relies on them requests them too, so that it never runs without them.
public enum ProcessSetup {
    /// Makes the changes, unless they were made already.
    public static func perform() { _ = isDone }

    /// The number of descriptors that Larder was allowed before it raised the limit. Programs that it starts get this
    /// limit again, since `select` fails for higher numbers.
    public static let openFiles: UInt = limit.rlim_cur

    /// The number of descriptors that Larder is allowed now.
    public static var mostOpenFiles: UInt {
        perform()
        var limit = rlimit()
        getrlimit(openFilesResource, &limit)
        return limit.rlim_cur
    }

    /// The number of descriptors that are left until ``mostOpenFiles`` are open. Counts the open ones: the cost grows with
    /// their number. Where they cannot be counted for lack of a descriptor, 0; where the system tells nothing of them,
    /// all are left.
    public static var openFilesLeft: Int {
        let most = Int(clamping: mostOpenFiles)
        guard let folder = opendir("/proc/self/fd") else { return errno == EMFILE || errno == ENFILE ? 0 : most }
        defer { closedir(folder) }
        // The two entries of every folder, and the descriptor that reads this one.
        var open = -3
        while readdir(folder) != nil { open += 1 }
        return max(0, most - open)
    }

    private static let limit: rlimit = {
        var limit = rlimit()
        getrlimit(openFilesResource, &limit)
        return limit
    }()
    private static let openFilesResource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

    /// Ends the process. Nothing that libraries have registered for an exit runs, which could hang or crash, except in a
    /// build with a sanitizer or a profile, which reports at the exit.
    /// - Parameter code: The exit code.
    public static func leave(_ code: Int32) -> Never { linux_leave(code) }

    private static let isDone: Bool = {
        // Many accounts need more than the 1,024 descriptors that are usual.
        var most = rlimit(rlim_cur: limit.rlim_max, rlim_max: limit.rlim_max)
        setrlimit(openFilesResource, &most)
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
        // A host has some twenty threads, of which few allocate at a time. Without the first two calls each thread keeps
        // memory of its own, a tenth of the process's memory in all. The calls are hints.
        _ = linux_limit_arenas(2)
        _ = linux_map_blocks_from(131_072)
        // By default so much would go back as a download takes at a time, with each of its pieces.
        _ = linux_keep_free(1_048_576)
        return true
    }()
}
