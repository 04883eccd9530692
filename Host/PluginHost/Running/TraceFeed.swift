public import Model
import Synchronization

/// The calls into the plugins of a process, for those who listen for a time. Accounts that are closed and opened again
/// have the same feeds. May be used on any thread.
public final class TraceFeeds: Sendable {
    private struct Name: Hashable {
        var plugin: PluginID
        var account: String
    }

    /// The feeds of all plugins that were started, by account. There are as many as the configs of the process have
    /// named.
    private let feeds = Mutex<[Name: TraceFeed]>([:])

    /// Creates feeds to which nobody listens.
    public init() {}

    func feed(of plugin: PluginID, in account: String) -> TraceFeed {
        feeds.withLock { feeds in
            let name = Name(plugin: plugin, account: account)
            if let feed = feeds[name] { return feed }
            let feed = TraceFeed(account: account)
            feeds[name] = feed
            return feed
        }
    }

    /// Begins to listen to the calls into a plugin for an account. The plugin need not be started yet.
    /// - Parameters:
    ///   - plugin: The plugin's id.
    ///   - account: The account's name.
    ///   - wake: Called with the listener when there is something to take after all was taken. It is called on the
    ///     plugin's thread, and must return at once.
    /// - Returns: The listener, which is to be ended.
    public func listen(
        to plugin: PluginID, in account: String, wake: @escaping @Sendable (TraceListener) -> Void
    ) -> TraceListener {
        let feed = feed(of: plugin, in: account)
        let listener = TraceListener(feed, plugin: plugin, wake: wake)
        feed.add(listener)
        return listener
    }
}

/// The calls into one plugin for one account, for those who listen.
final class TraceFeed: TraceSink {
    /// The account's name.
    let account: String
    private let count = Atomic(0)
    private let listeners = Mutex<[TraceListener]>([])

    init(account: String) { self.account = account }

    /// Whether somebody listens.
    var isHeard: Bool { count.load(ordering: .relaxed) > 0 }

    func write(_ members: String) {
        guard isHeard else { return }
        for listener in listeners.withLock({ $0 }) { listener.add(members) }
    }

    func add(_ listener: TraceListener) {
        listeners.withLock { listeners in
            listeners.append(listener)
            count.store(listeners.count, ordering: .relaxed)
        }
    }

    func remove(_ listener: TraceListener) {
        listeners.withLock { listeners in
            listeners.removeAll { $0 === listener }
            count.store(listeners.count, ordering: .relaxed)
        }
    }
}

/// One who listens to the calls into a plugin. Lines that are not taken in time are left out and counted, so that no
/// call waits for a listener. May be used on any thread.
public final class TraceListener: Sendable {
    private struct State {
        var lines: [String] = []
        var bytes = 0
        var sequence: Int64 = 0
        var leftOut: Int64 = 0
        /// Whether the listener knows that there is something to take.
        var isWoken = false
    }

    /// The bytes of the lines that are kept for a listener, at most.
    static let mostBytes = 2 << 20

    private let feed: TraceFeed
    private let plugin: PluginID
    private let wake: @Sendable (TraceListener) -> Void
    private let state = Mutex(State())

    init(_ feed: TraceFeed, plugin: PluginID, wake: @escaping @Sendable (TraceListener) -> Void) {
        (self.feed, self.plugin, self.wake) = (feed, plugin, wake)
    }

    func add(_ members: String) {
        let wakes = state.withLock { state in
            state.sequence += 1
            // What was left out is told behind what came before it.
            guard state.leftOut == 0, state.bytes < Self.mostBytes else {
                state.leftOut += 1
                return false
            }
            let line = "{\"seq\":\(state.sequence),\"account\":\(JSONText.quoted(feed.account)),\(members)}"
            state.lines.append(line)
            state.bytes += line.utf8.count
            defer { state.isWoken = true }
            return !state.isWoken
        }
        if wakes { wake(self) }
    }

    /// Takes the lines that have come since the last time: JSON objects without line breaks. Where lines were left out,
    /// the last line says how many.
    public func take() -> [String] {
        state.withLock { state in
            defer { (state.lines, state.bytes, state.leftOut, state.isWoken) = ([], 0, 0, false) }
            guard state.leftOut > 0 else { return state.lines }
            let gap =
                "{\"account\":\(JSONText.quoted(feed.account)),\"plugin\":\(JSONText.quoted(plugin.text)),"
                + "\"phase\":\"leftOut\",\"count\":\(state.leftOut)}"
            return state.lines + [gap]
        }
    }

    /// Ends the listening.
    public func end() { feed.remove(self) }
}
