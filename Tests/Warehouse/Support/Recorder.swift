import Synchronization
import Warehouse

/// An observer that records the events that it receives.
final class Recorder: ProjectStorageObserver {
    enum Event: Hashable {
        case created(ProjectID)
        case updated(ProjectID)
        case deleted(ProjectID)
        case duplicated(ProjectID, as: ProjectID)
    }

    private let heard = Mutex<[(storage: ObjectIdentifier, event: Event)]>([])
    /// The function that is called after each event.
    let then: @Sendable (Recorder, ProjectStorage) -> Void

    init(then: @escaping @Sendable (Recorder, ProjectStorage) -> Void = { _, _ in }) { self.then = then }

    var events: [Event] { heard.withLock { $0.map(\.event) } }

    func hasHeardOnly(of storage: ProjectStorage) -> Bool {
        heard.withLock { $0.allSatisfy { $0.storage == ObjectIdentifier(storage) } }
    }

    private func add(_ event: Event, _ storage: ProjectStorage) {
        heard.withLock { $0.append((ObjectIdentifier(storage), event)) }
        then(self, storage)
    }

    func storage(_ storage: ProjectStorage, didCreate project: ProjectID) { add(.created(project), storage) }
    func storage(_ storage: ProjectStorage, didUpdate project: ProjectID) { add(.updated(project), storage) }
    func storage(_ storage: ProjectStorage, didDelete project: ProjectID) { add(.deleted(project), storage) }
    func storage(_ storage: ProjectStorage, didDuplicate source: ProjectID, as project: ProjectID) {
        add(.duplicated(source, as: project), storage)
    }
}
