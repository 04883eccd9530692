import Glibc
public import Model

extension ProcessIdentity {
    /// The process that has this number now.
    /// - Throws: `.badData` if there is none, `.localIO` if the system does not tell.
    public static func current(_ pid: Int32) throws(Failure) -> ProcessIdentity {
        switch ProcessStatus(pid) {
        case .living(let started): return ProcessIdentity(pid: pid, started: started, boot: currentBootID())
        case .gone: throw Failure(.badData, "There is no process \(pid)", hint: "`ps -e` lists all")
        case .unknown:
            throw Failure(
                .localIO, "Nothing can be read about the process \(pid) in /proc",
                hint: "See that /proc is mounted without hiding other users' processes (`hidepid`)")
        }
    }
}

extension ClaimWorld {
    /// The world as it is.
    public static func current(now: Timestamp) -> ClaimWorld {
        let boot = currentBootID()
        return ClaimWorld(now: now) { process in
            guard process.boot == boot else { return false }
            return switch ProcessStatus(process.pid) {
            case .living(let started): started == process.started
            case .gone: false
            // What cannot be told of is no end.
            case .unknown: true
            }
        }
    }
}

/// What `/proc/PID/stat` says (`proc(5)`).
private enum ProcessStatus {
    /// With the time at which it began, in ticks since the system's start.
    case living(started: UInt64)
    case gone
    case unknown

    init(_ pid: Int32) {
        let file = Descriptor(open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC))
        guard file.number >= 0 else {
            self = errno == ENOENT || errno == ESRCH ? .gone : .unknown
            return
        }
        // The name, in parentheses, may hold anything.
        let fields = readText(file.number, limit: 4096).split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, let threads = Int(fields[17]), let started = UInt64(fields[19]) else {
            // Read just when it ended.
            self = kill(pid, 0) != 0 && errno == ESRCH ? .gone : .unknown
            return
        }
        // A zombie lives on only in its other threads.
        let isZombie = ["Z", "X", "x"].contains(fields[0]) && threads <= 1
        self = isZombie ? .gone : .living(started: started)
    }
}

/// Tells one run of the system from the next (`random(4)`); empty if it does not say.
package func currentBootID() -> String {
    let file = Descriptor(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC))
    return file.number < 0 ? "" : readText(file.number, limit: 64)
}
