import Glibc
public import Model

extension ProcessIdentity {
    /// Returns the identity of the process that has this id now.
    /// - Throws: `.badData` if there is no such process, `.localIO` if the system does not tell.
    public static func current(_ pid: Int32) throws(Failure) -> ProcessIdentity {
        switch ProcessStatus(pid) {
        case .living(let started): return ProcessIdentity(pid: pid, started: started, boot: currentBootID())
        case .gone: throw Failure(.badData, "There is no process \(pid)", hint: "`ps -e` lists all")
        case .unknown:
            throw Failure(
                .localIO, "Nothing can be read about the process \(pid) in /proc",
                hint: "Check that /proc is mounted without hiding other users' processes (`hidepid`)")
        }
    }
}

extension ClaimWorld {
    /// Returns the present state of the system.
    public static func current(now: Timestamp) -> ClaimWorld {
        let boot = currentBootID()
        return ClaimWorld(now: now) { process in
            guard process.boot == boot else { return false }
            return switch ProcessStatus(process.pid) {
            case .living(let started): started == process.started
            case .gone: false
            // An unknown state does not count as the end of the process.
            case .unknown: true
            }
        }
    }
}

/// The state of a process according to `/proc/PID/stat` (`proc(5)`).
private enum ProcessStatus {
    /// A living process, with the time of its start in ticks since the system's start.
    case living(started: UInt64)
    case gone
    case unknown

    init(_ pid: Int32) {
        let file = Descriptor(open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC))
        guard file.number >= 0 else {
            self = errno == ENOENT || errno == ESRCH ? .gone : .unknown
            return
        }
        // The process name, in parentheses, may contain any characters.
        let fields = readText(file.number, limit: 4096).split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 19, let threads = Int(fields[17]), let started = UInt64(fields[19]) else {
            // The process may have ended during the reading.
            self = kill(pid, 0) != 0 && errno == ESRCH ? .gone : .unknown
            return
        }
        // A zombie lives on only in its other threads.
        let isZombie = ["Z", "X", "x"].contains(fields[0]) && threads <= 1
        self = isZombie ? .gone : .living(started: started)
    }
}

/// Returns the id of the system's present boot (`random(4)`); empty if the system does not tell.
package func currentBootID() -> String {
    let file = Descriptor(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC))
    return file.number < 0 ? "" : readText(file.number, limit: 64)
}
