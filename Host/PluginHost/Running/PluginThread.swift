import CLinux
import Threads

/// The one thread on which all calls into a plugin are made, one after another.
///
/// A plugin may block in a call of its own or in a call into the host. Its calls therefore never run on the threads
/// that Swift's tasks share.
extension SerialThread {
    /// Returns the last 15 bytes of a name, without a part of a character before them.
    static func threadName(_ name: String) -> String {
        String(decoding: name.utf8.suffix(15).drop { $0 & 0xc0 == 0x80 }, as: UTF8.self)
    }

    /// The stack size in bytes. Plugins are written for the stack of a program's main thread.
    private static let pluginStackSize = 8 << 20

    /// Creates the thread of a plugin.
    /// - Parameter name: The name, of which debuggers and `ps` show the last 15 bytes: plugins of one vendor begin alike.
    static func forPlugin(_ name: String) throws(ThreadError) -> SerialThread {
        try SerialThread(name: threadName(name), stackSize: pluginStackSize) { work in
            let stack = linux_take_fatal_signals()
            defer { linux_give_back_signal_stack(stack) }
            work()
        }
    }
}

/// The error for a call into the plugin that has not returned for a long time and is not waited for.
public struct PluginHangs: Error {}
