import Model
import Synchronization

/// The calls that a command follows, as it prints them and as it writes them to a file. May be used on any thread that
/// may block.
final class TracedCalls: Sendable {
    private struct State: ~Copyable {
        var lines = CallLines(showsAll: true)
        var file: TimelineFile?
        var isClosed = false
    }

    private let isJSON: Bool
    private let namesAccounts: Bool
    private let timeline: String?
    private let console: Console
    private let state = Mutex(State())

    /// - Parameters:
    ///   - namesAccounts: whether the account of each call is shown.
    ///   - timeline: the path of the file; nil writes none. The file is made with the first events.
    init(isJSON: Bool, namesAccounts: Bool, timeline: String?, _ console: Console) {
        (self.isJSON, self.namesAccounts, self.timeline, self.console) = (isJSON, namesAccounts, timeline, console)
    }

    /// Writes what a host has told, and prints it.
    /// - Parameter account: the account's name.
    /// - Throws: `cannotCreate` or `localIO` if the file cannot be written.
    func add(_ events: [TracedEvent], of account: String) throws(Failure) {
        let lines = events.compactMap { event -> (text: String, json: JSONValue)? in
            guard case .line(let text) = event, let json = try? JSONValue(parsing: text) else { return nil }
            return (text, json)
        }
        let printed = try state.withLock { state throws(Failure) -> [String] in
            guard !state.isClosed else { return [] }
            if let timeline {
                if state.file == nil { state.file = try TimelineFile(path: timeline) }
                try state.file?.add(lines.map(\.json), of: account)
            }
            if isJSON { return lines.map(\.text) }
            let place = namesAccounts ? "in \(account)" : nil
            return lines.flatMap { state.lines.text(of: $0.json, in: place).split(separator: "\n").map(String.init) }
        }
        for line in printed { console.print(line) }
        console.send()
    }

    /// Completes the file. Nothing is added from then on.
    /// - Returns: the error if that is not possible.
    func close() -> Failure? {
        state.withLock { state in
            guard !state.isClosed else { return nil }
            state.isClosed = true
            do throws(Failure) { try state.file?.close() } catch { return error }
            return nil
        }
    }
}
