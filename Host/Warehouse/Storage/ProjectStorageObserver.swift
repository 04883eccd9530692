import Synchronization

/// An observer of the changes made by one ``ProjectStorage`` object. It is called after the change, on the thread that
/// made the change.
///
/// Changes made by other objects or processes on the same base folder are not reported. A duplicated project is not
/// reported as created, and a set date is not reported. Observers are called in no particular order. No lock is held
/// during the call, so an observer may use the storage.
public protocol ProjectStorageObserver: AnyObject, Sendable {
    /// Is called after a project was created.
    func storage(_ storage: ProjectStorage, didCreate project: ProjectID)
    /// Is called after a project was updated.
    func storage(_ storage: ProjectStorage, didUpdate project: ProjectID)
    /// Is called after a project was deleted.
    func storage(_ storage: ProjectStorage, didDelete project: ProjectID)
    /// Is called after a project was duplicated.
    /// - Parameters:
    ///   - source: The id of the original.
    ///   - project: The id of the duplicate.
    func storage(_ storage: ProjectStorage, didDuplicate source: ProjectID, as project: ProjectID)
}

/// Implementations that do nothing, so that an observer implements only the functions it needs.
extension ProjectStorageObserver {
    public func storage(_ storage: ProjectStorage, didCreate project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didUpdate project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didDelete project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didDuplicate source: ProjectID, as project: ProjectID) {}
}

/// The observers of a storage. Each observer is held once and weakly.
final class Observers: Sendable {
    private struct Reference: Sendable {
        weak var observer: (any ProjectStorageObserver)?
    }

    private let references = Mutex<[Reference]>([])

    func add(_ observer: any ProjectStorageObserver) {
        references.withLock { references in
            references.removeAll { $0.observer == nil || $0.observer === observer }
            references.append(Reference(observer: observer))
        }
    }

    func remove(_ observer: any ProjectStorageObserver) {
        references.withLock { $0.removeAll { $0.observer == nil || $0.observer === observer } }
    }

    /// Calls each observer. An observer that was removed since the call began is left out: one observer may remove
    /// another, or itself.
    func notify(_ call: (any ProjectStorageObserver) -> Void) {
        let all = references.withLock { $0.compactMap(\.observer) }
        for observer in all where references.withLock({ $0.contains { $0.observer === observer } }) { call(observer) }
    }
}
