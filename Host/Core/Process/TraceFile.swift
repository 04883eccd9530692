import Model
import PluginHost
import Synchronization

/// The file to which every call into every plugin is written. It is made when the first account is opened, and is one
/// file for as long as the process runs. May be used on any thread.
public final class TraceFile: Sendable {
    private let path: String
    private let writer = Mutex<TraceWriter?>(nil)

    /// Names the file. Nothing is written yet.
    /// - Parameter path: The absolute path of the file. An existing file is replaced.
    public init(path: String) { self.path = path }

    /// - Throws: `.cannotCreate` if the file cannot be written.
    func open() throws(Failure) -> TraceWriter {
        try writer.withLock { writer throws(Failure) in
            if let writer { return writer }
            let made = try TraceWriter(path: path)
            writer = made
            return made
        }
    }

    /// - Throws: `.localIO` if a line could not be written.
    func check() throws(Failure) { try writer.withLock { $0 }?.check() }
}
