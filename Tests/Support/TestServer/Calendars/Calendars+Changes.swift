public import DemoServer

extension Calendars {
    /// Renames a calendar.
    /// - Returns: False if there is no such calendar.
    @discardableResult public func rename(_ id: String, to name: String?) -> Bool { edit(id) { $0.name = name } }

    /// Removes a calendar with all its objects.
    /// - Returns: False if there is no such calendar.
    @discardableResult public func remove(_ id: String) -> Bool {
        change { state in
            guard let index = state.index(of: id) else { return false }
            state.calendars.remove(at: index)
            return true
        }
    }

    /// Removes an object.
    /// - Returns: False if there is no such calendar.
    @discardableResult public func remove(_ object: String, from id: String) -> Bool {
        edit(id) { $0.remove(object) }
    }

    /// The ids of all calendars, in the order in which they were created.
    public var ids: [String] { read { $0.calendars.map(\.id) } }

    /// Returns a calendar's objects by their names; nil if there is no such calendar.
    public func objects(in id: String) -> [String: String]? { read { $0.calendar(id)?.objects.mapValues(\.text) } }

    /// Returns the path of a calendar, or of an object in it, on the server.
    public func path(_ id: String, _ object: String? = nil) -> String {
        let home = read { $0.calendar(id)?.home } ?? user
        return CalendarTarget.path(home: home, id: id, object: object)
    }
}
