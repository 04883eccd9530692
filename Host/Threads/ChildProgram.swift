import CLinux
import Glibc

/// A program that Larder starts: in a process group of its own, without Larder's descriptors, with
/// standard signal actions, and with the limit of open files that Larder itself was started with.
///
///     let program = ChildProgram(words: ["cat", "/etc/hostname"])
///     let child = try program.start(writingTo: pipe)
public struct ChildProgram: Sendable {
    /// An error of the system that kept a program from being started.
    public struct NotStarted: Error {
        /// The value of `errno`.
        public let code: Int32
    }

    /// The program, which is searched for in `PATH`, and its arguments.
    public var words: [String]
    /// The variables, as `NAME=value`; nil for Larder's own.
    public var environment: [String]?
    /// Whether nobody sees what the program writes to standard error.
    public var discardsErrors = false
    /// Whether the program is killed when the thread that started it ends, and so when Larder is killed. That thread must
    /// wait for the program.
    public var endsWithThread = false
    /// The working folder; nil for Larder's own.
    public var folder: String?

    public init(words: [String]) { self.words = words }

    /// Starts the program. The caller waits for its end.
    /// - Parameters:
    ///   - output: The descriptor that becomes the program's standard output, above 2.
    ///   - errors: The descriptor that becomes its standard error, above 2; nil for Larder's own.
    ///   - input: The descriptor that becomes its standard input, above 2; nil for none.
    /// - Returns: The process id, which is that of the process group too.
    public func start(
        writingTo output: Int32, errorsTo errors: Int32? = nil, readingFrom input: Int32? = nil
    ) throws(NotStarted) -> Int32 {
        ProcessSetup.perform()
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        let variables: [UnsafeMutablePointer<CChar>?]? = environment.map { $0.map { strdup($0) } + [nil] }
        let place = folder.map { strdup($0) } ?? nil
        defer { for text in arguments + (variables ?? []) + [place] { free(text) } }
        var pid = pid_t()
        let code = arguments.withUnsafeBufferPointer { arguments in
            func start(_ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?) -> Int32 {
                var child = linux_child(
                    program: arguments[0], arguments: arguments.baseAddress, environment: environment,
                    input: input ?? -1, output: output, errors: errors ?? -1, discards_errors: discardsErrors,
                    folder: place,
                    ends_with_thread: endsWithThread, files: ProcessSetup.openFiles)
                return linux_spawn(&child, &pid)
            }
            guard let variables else { return start(nil) }
            return variables.withUnsafeBufferPointer { start($0.baseAddress) }
        }
        guard code == 0 else { throw NotStarted(code: code) }
        return pid
    }
}
