import Model
import PluginHost
import Synchronization

/// A plugin with event loops. It runs as long as one of its loops is enabled.
final class LoopPlugin: Sendable {
    let plugin: PluginID
    let offer: LoopOffer
    /// The time between two polls of the plugin's loops, from the plugin's settings; nil if the settings do not say.
    let interval: Duration?
    let gate = CallGate()
    private let callbacks: EventLoops.Callbacks
    private let state: Mutex<(instance: PluginInstance, isStopped: Bool)>

    init(_ instance: PluginInstance, _ offer: LoopOffer, _ callbacks: EventLoops.Callbacks) {
        (plugin, self.offer, self.callbacks) = (instance.plugin, offer, callbacks)
        interval = instance.heeded.pollInterval
        state = Mutex((instance, false))
    }

    /// The plugin's instance; nil if the plugin is stopped.
    var instance: PluginInstance? { state.withLock { $0.isStopped ? nil : $0.instance } }

    /// Stops the plugin, unless it is also a policy processor.
    func rest() async {
        guard let instance, instance.kind == nil else { return }
        state.withLock { $0.isStopped = true }
        await callbacks.stop(instance)
    }

    /// Starts the plugin again if it was stopped.
    /// - Returns: Whether the plugin runs.
    func wake() async -> Bool {
        let (instance, isStopped) = state.withLock { $0 }
        guard isStopped else { return true }
        guard let again = await callbacks.start(instance) else { return false }
        state.withLock { $0 = (again, false) }
        return true
    }
}
