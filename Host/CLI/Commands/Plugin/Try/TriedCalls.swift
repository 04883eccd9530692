import Model
import Synchronization

/// The calls of a trial, as they are shown. May be used on any thread.
final class TriedCalls: Sendable {
    private struct State {
        // Of what comes before and after the calls for a trigger, what goes wrong is shown.
        var lines = CallLines(showsAll: false)
        /// The number of calls for a trigger.
        var calls = 0
    }

    private let isJSON: Bool
    private let state = Mutex(State())

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// The number of calls for a trigger.
    var count: Int { state.withLock(\.calls) }

    /// Returns what is shown for a line of the trace: nothing, or whole lines.
    func text(of line: String) -> String {
        guard let json = try? JSONValue(parsing: line) else { return line }
        return state.withLock { state in
            if json["phase"] == .string("begin"), case .string? = json["trigger"] { state.calls += 1 }
            let text = state.lines.text(of: json)
            return isJSON ? line : text
        }
    }
}
