import CLinux
import Glibc

/// The limits of a check's process, so that no plugin takes the machine with it.
public enum CheckLimits {
    /// Sets how much memory of its own the process may have from now on, in bytes. Nothing undoes it.
    static func lower(dataTo bytes: rlim_t) {
        var limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
        setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
    }

    /// Sets them for this process. Nothing undoes it.
    public static func set() {
        func limit(_ resource: __rlimit_resource, _ value: rlim_t) {
            var limit = rlimit(rlim_cur: value, rlim_max: value)
            setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        }
        limit(RLIMIT_CORE, 0)
        limit(RLIMIT_AS, 16 << 30)
        limit(RLIMIT_DATA, 4 << 30)
        limit(RLIMIT_FSIZE, 1 << 30)
        limit(RLIMIT_NOFILE, 1_024)
        _ = linux_forbid_children()
    }
}
