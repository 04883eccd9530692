import CLinux
import Threads

/// The one thread on which all calls into a plugin are made, one after the other.
///
/// A plugin may block: in a call of its own, or in a call of the host's. So its calls never run on the threads that Swift's
/// tasks share.
extension SerialThread {
    /// Plugins are written for the stack of a program's main thread, in bytes.
    private static let pluginStackSize = 8 << 20

    /// - Parameter name: what debuggers and `ps` show, cut to 15 bytes.
    static func forPlugin(_ name: String) throws(ThreadError) -> SerialThread {
        try SerialThread(name: name, stackSize: pluginStackSize) { work in
            let stack = linux_take_fatal_signals()
            defer { linux_give_back_signal_stack(stack) }
            work()
        }
    }
}

/// A call into the plugin has not returned for long, and nobody waits for it.
public struct PluginHangs: Error {}
