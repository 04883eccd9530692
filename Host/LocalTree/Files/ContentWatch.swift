import Glibc
import Model

/// A guard that detects whether anybody changes a file while the file is being judged and moved. The guard uses a
/// lease, or else `/proc`.
struct ContentWatch: ~Copyable {
    enum Beginning: ~Copyable {
        case held(ContentWatch)
        case inUse
    }

    /// The lease; nil if the system grants no leases for this file.
    private let lease: LeaseBox?
    private let kind: Lease.Kind
    private let info: stat
    private let step: Duration
    private let ask: (stat) -> OpenFiles.Answer

    /// Begins to guard a file.
    /// - Parameters:
    ///   - file: A descriptor that was opened for reading only.
    ///   - info: The file's status.
    ///   - step: The step of the times that the file system keeps.
    ///   - instead: A function that is called instead of taking a lease and of reading `/proc`.
    static func begin(
        _ file: Int32, _ info: stat, _ kind: Lease.Kind, now: Timestamp, step: Duration,
        instead: (@Sendable (stat) -> OpenFiles.Answer)? = nil
    ) -> Beginning {
        let ask = instead ?? { OpenFiles.use(of: $0, except: file) }
        if instead == nil {
            do {
                let lease = LeaseBox(try Lease(file, kind))
                return .held(ContentWatch(lease: lease, kind: kind, info: info, step: step, ask: ask))
            } catch {
                guard error == .unavailable else { return .inUse }
            }
        }
        let watch = ContentWatch(lease: nil, kind: kind, info: info, step: step, ask: ask)
        return watch.isUndisturbed(file, now: now) ? .held(watch) : .inUse
    }

    /// Whether nobody waits to write the file. Always true without a lease.
    var isUncontested: Bool { lease?.value.isUncontested ?? true }

    /// Tells whether nobody has changed the file since ``begin(_:_:_:now:step:instead:)``, or is about to.
    func isUndisturbed(_ file: Int32, now: Timestamp) -> Bool {
        if let lease { return lease.value.isUncontested }
        // A write sets the modification time to the present time, in the file system's steps. If the modification time
        // is older by more than a step, a write would therefore have changed it.
        var after = stat()
        guard fstat(file, &after) == 0, Timestamp(after.st_mtim) == Timestamp(info.st_mtim),
            Timestamp(after.st_mtim) + step < now
        else { return false }
        return switch ask(info) {
        case .unused: true
        case .read: kind == .unwritten
        case .written, .unknown: false
        }
    }
}

/// A box for a lease. An optional of a value that cannot be copied has no optional chaining; an optional of this box
/// has.
private final class LeaseBox {
    let value: Lease
    init(_ value: consuming Lease) { self.value = value }
}
