import Synchronization

/// The calendars of a demo server. A calendar is named by the last part of its path, an object by its file's name.
///
/// Changes made here look like changes by another client: no request is logged, and sync tokens report them.
public final class Calendars: Sendable {
    private let state = Mutex(CalendarState())
    package let user: String

    init(user: String) { self.user = user }

    /// Creates a calendar. An existing calendar stays as it is.
    /// - Parameters:
    ///   - id: The last part of the calendar's path.
    ///   - name: The name for people; nil for no name at all.
    ///   - components: The kinds of components that the calendar may contain.
    ///   - home: The last part of the path of the home that holds the calendar; nil for the user's own home. Any other
    ///     name is one more home.
    ///   - readOnly: Whether clients may only read the calendar.
    public func make(
        _ id: String, name: String? = nil, components: [String] = ["VEVENT", "VTODO"], home: String? = nil,
        readOnly: Bool = false
    ) {
        let calendar = Calendar(
            home: home ?? user, id: id, name: name, components: components, isReadOnly: readOnly)
        change { if $0.index(of: id) == nil { $0.calendars.append(calendar) } }
    }

    /// Writes an object.
    /// - Returns: False if there is no such calendar.
    @discardableResult public func put(_ object: String, _ text: String, in id: String) -> Bool {
        edit(id) { $0.put(object, text) }
    }

    /// Writes many objects at once, in the order of their names.
    /// - Returns: False if there is no such calendar.
    @discardableResult public func put(_ objects: [String: String], in id: String) -> Bool {
        edit(id) { calendar in
            for (object, text) in objects.sorted(by: { $0.key < $1.key }) { calendar.put(object, text) }
        }
    }

    package func read<Result: Sendable>(_ body: (CalendarState) -> Result) -> Result { state.withLock { body($0) } }

    @discardableResult package func change<Result: Sendable>(_ body: (inout CalendarState) -> Result) -> Result {
        state.withLock { body(&$0) }
    }

    /// Changes a calendar.
    /// - Returns: False if there is no such calendar.
    package func edit(_ id: String, _ body: (inout Calendar) -> Void) -> Bool {
        change { state in
            guard let index = state.index(of: id) else { return false }
            body(&state.calendars[index])
            return true
        }
    }
}
