import Synchronization

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
