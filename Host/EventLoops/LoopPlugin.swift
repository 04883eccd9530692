import Model
import PluginHost
import Synchronization

/// A plugin with event loops, which is at work as long as one of them is enabled.
final class LoopPlugin: Sendable {
    let plugin: PluginID
    let offer: LoopOffer
    /// Between two polls of its loops, as it is set to; nil: it does not say.
    let interval: Duration?
    let gate = CallGate()
    private let callbacks: EventLoops.Callbacks
    private let state: Mutex<(instance: PluginInstance, isStopped: Bool)>

    init(_ instance: PluginInstance, _ offer: LoopOffer, _ callbacks: EventLoops.Callbacks) {
        (plugin, self.offer, self.callbacks) = (instance.plugin, offer, callbacks)
        interval = instance.heeded.pollInterval
        state = Mutex((instance, false))
    }

    /// Nil: it was stopped.
    var instance: PluginInstance? { state.withLock { $0.isStopped ? nil : $0.instance } }

    /// Stops the plugin, unless it does something else too.
    func rest() async {
        guard let instance, instance.kind == nil else { return }
        state.withLock { $0.isStopped = true }
        await callbacks.stop(instance)
    }

    /// Starts the plugin again if it was stopped.
    /// - Returns: whether it is at work.
    func wake() async -> Bool {
        let (instance, isStopped) = state.withLock { $0 }
        guard isStopped else { return true }
        guard let again = await callbacks.start(instance) else { return false }
        state.withLock { $0 = (again, false) }
        return true
    }
}
