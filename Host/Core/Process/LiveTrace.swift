public import Model
import PluginHost

/// The calls into a plugin for an account of this process, heard while they are made. May be used on any thread.
public struct LiveTrace: Sendable {
    private let listener: TraceListener

    /// Begins to listen. The account need not be open, nor the plugin started; one that is started again goes on.
    /// - Parameters:
    ///   - plugin: The plugin's id.
    ///   - account: The account's name.
    ///   - options: The options of the process.
    ///   - wake: Called with the trace when there is something to take after all was taken. It is called on the threads
    ///     of plugins, and must return at once.
    public init(
        of plugin: PluginID, in account: String, _ options: HostOptions, wake: @escaping @Sendable (LiveTrace) -> Void
    ) {
        listener = options.traceFeeds.listen(to: plugin, in: account) { wake(LiveTrace(listener: $0)) }
    }

    private init(listener: TraceListener) { self.listener = listener }

    /// Takes the lines of the trace that have come since the last time. They are JSON objects without line breaks. If
    /// more have come than are kept, those are left out, and the last line says how many they were.
    public func take() -> [String] { listener.take() }

    /// Ends the listening.
    public func end() { listener.end() }
}
