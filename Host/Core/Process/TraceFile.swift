import Model
import PluginHost
import Synchronization

/// The file to which every call into every plugin is written. It is made when the first account is opened, and is one
/// file for as long as the process runs. May be used on any thread.
public final class TraceFile: Sendable {
    private let make: @Sendable () throws(Failure) -> TraceWriter
    private let writer = Mutex<TraceWriter?>(nil)

    /// Names the file. Nothing is written yet.
    /// - Parameter path: The absolute path of the file. An existing file is replaced.
    public init(path: String) { make = { () throws(Failure) in try TraceWriter(path: path) } }

    /// Names the output of a command instead.
    /// - Parameters:
    ///   - output: The descriptor, which is duplicated.
    ///   - shown: Returns what is written for a line of JSON that ends with a line break. It is called on the threads of
    ///     the plugins.
    public init(output: Int32, as shown: @escaping @Sendable (String) -> String) {
        make = { () throws(Failure) in TraceWriter(output: output, as: shown) }
    }

    /// - Throws: `.cannotCreate` if the file cannot be written.
    func open() throws(Failure) -> TraceWriter {
        try writer.withLock { writer throws(Failure) in
            if let writer { return writer }
            let made = try make()
            writer = made
            return made
        }
    }

    /// - Throws: `.localIO` if a line could not be written.
    func check() throws(Failure) { try writer.withLock { $0 }?.check() }
}
