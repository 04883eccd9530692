/// Hears of what one ``ProjectStorage`` object changed, after it was done, on the thread that did it.
///
/// What other objects or processes do on the same base folder is not told. A duplicate is no creation, and a set date is
/// nothing. Observers are called in no particular order, while no lock is held: they may use the storage.
public protocol ProjectStorageObserver: AnyObject, Sendable {
    func storage(_ storage: ProjectStorage, didCreate project: ProjectID)
    func storage(_ storage: ProjectStorage, didUpdate project: ProjectID)
    func storage(_ storage: ProjectStorage, didDelete project: ProjectID)
    func storage(_ storage: ProjectStorage, didDuplicate source: ProjectID, as project: ProjectID)
}

extension ProjectStorageObserver {
    public func storage(_ storage: ProjectStorage, didCreate project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didUpdate project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didDelete project: ProjectID) {}
    public func storage(_ storage: ProjectStorage, didDuplicate source: ProjectID, as project: ProjectID) {}
}
