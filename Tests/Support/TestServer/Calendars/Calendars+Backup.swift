public import DemoServer

extension Calendars {
    /// The state of all calendars at one moment. Restoring it plays a server that is restored from a backup.
    public struct Backup: Sendable {
        fileprivate var state: CalendarState
    }

    /// Returns the present state of all calendars.
    public func backup() -> Backup { Backup(state: read { $0 }) }

    /// Sets all calendars back to the state in a backup.
    public func restore(_ backup: Backup) { change { $0 = backup.state } }

    /// Forgets the log of changed objects, as a server does that clears its log.
    /// - Returns: false if there is no such calendar.
    @discardableResult public func forgetChanges(in id: String) -> Bool { edit(id) { $0.forgotten = $0.version } }
}
