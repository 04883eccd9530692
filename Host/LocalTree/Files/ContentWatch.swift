import Glibc
import Model

/// Sees to it that nobody changes a file unnoticed while it is judged and moved: by a lease, else by `/proc`.
struct ContentWatch: ~Copyable {
    enum Beginning: ~Copyable {
        case held(ContentWatch)
        case inUse
    }

    /// Nil: there are no leases for this file.
    private let lease: LeaseBox?
    private let kind: Lease.Kind
    private let info: stat
    private let step: Duration
    private let ask: (stat) -> OpenFiles.Answer

    /// - Parameters:
    ///   - file: Opened for reading only.
    ///   - info: What the file system says of it.
    ///   - step: Of the times that the file system keeps.
    ///   - instead: Asked instead of the kernel for a lease, and instead of `/proc`.
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

    /// Whether nobody waits to write. Without a lease nobody waits.
    var isUncontested: Bool { lease?.value.isUncontested ?? true }

    /// Whether nobody has changed the file since ``begin(_:_:_:now:step:instead:)`` or is about to.
    func isUndisturbed(_ file: Int32, now: Timestamp) -> Bool {
        if let lease { return lease.value.isUncontested }
        // A write sets the modification time to now, in the file system's steps: one that is older by more than a step tells of it.
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

/// An optional of what cannot be copied has no chaining; this has.
private final class LeaseBox {
    let value: Lease
    init(_ value: consuming Lease) { self.value = value }
}
