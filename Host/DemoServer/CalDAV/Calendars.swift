import Synchronization

/// The calendars of a demo server. A calendar is named by the last part of its path, an object by its file's name.
///
/// What is changed here is changed as if by another client: no request is seen, and sync tokens tell of it.
public final class Calendars: Sendable {
    private let state = Mutex(CalendarState())
    private let user: String

    init(user: String) { self.user = user }

    /// Makes a calendar; one that is there stays as it is.
    /// - Parameters:
    ///   - name: what it is called for people; nil for no name at all.
    ///   - components: what it may contain.
    ///   - home: the last part of the path of the home that it is in; nil for the user's own. Any other is one more home.
    public func make(
        _ id: String, name: String? = nil, components: [String] = ["VEVENT", "VTODO"], home: String? = nil,
        readOnly: Bool = false
    ) {
        let calendar = Calendar(
            home: home ?? user, id: id, name: name, components: components, isReadOnly: readOnly)
        change { if $0.index(of: id) == nil { $0.calendars.append(calendar) } }
    }

    /// - Returns: false if there is no such calendar. The same for all that follow.
    @discardableResult public func rename(_ id: String, to name: String?) -> Bool { edit(id) { $0.name = name } }

    /// Removes a calendar with all that is in it.
    @discardableResult public func remove(_ id: String) -> Bool {
        change { state in
            guard let index = state.index(of: id) else { return false }
            state.calendars.remove(at: index)
            return true
        }
    }

    /// Writes an object.
    @discardableResult public func put(_ object: String, _ text: String, in id: String) -> Bool {
        edit(id) { $0.put(object, text) }
    }

    /// Writes many objects at once, in the order of their names.
    @discardableResult public func put(_ objects: [String: String], in id: String) -> Bool {
        edit(id) { calendar in
            for (object, text) in objects.sorted(by: { $0.key < $1.key }) { calendar.put(object, text) }
        }
    }

    @discardableResult public func remove(_ object: String, from id: String) -> Bool {
        edit(id) { $0.remove(object) }
    }

    /// The ids of all calendars, in the order in which they were made.
    public var ids: [String] { read { $0.calendars.map(\.id) } }

    /// A calendar's objects by their names; nil if there is no such calendar.
    public func objects(in id: String) -> [String: String]? { read { $0.calendar(id)?.objects.mapValues(\.text) } }

    /// The path that a calendar, or an object in it, has on the server.
    public func path(_ id: String, _ object: String? = nil) -> String {
        let home = read { $0.calendar(id)?.home } ?? user
        return CalendarTarget.path(home: home, id: id, object: object)
    }

    package func read<Result: Sendable>(_ body: (CalendarState) -> Result) -> Result { state.withLock { body($0) } }

    @discardableResult package func change<Result: Sendable>(_ body: (inout CalendarState) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// - Returns: false if there is no such calendar.
    package func edit(_ id: String, _ body: (inout Calendar) -> Void) -> Bool {
        change { state in
            guard let index = state.index(of: id) else { return false }
            body(&state.calendars[index])
            return true
        }
    }
}
