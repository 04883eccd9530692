import Glibc
import Logging
import Threads

/// The part of the probe that runs in the child process.
public enum PluginProbe {
    static let described = "larder-probe: described"
    static let refused = "larder-probe: refused: "

    /// Opens the library, describes its plugins, makes an instance of each and discards it, writes the result to
    /// standard output, and ends the process.
    ///
    /// Only the line that is written at the end counts. If the library ends the process before, the line is missing,
    /// whatever the exit code.
    /// - Parameter library: The absolute path of the library.
    public static func main(library: String) -> Never {
        // The library's own output must not be taken for this line.
        let output = dup(STDOUT_FILENO)
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        ProcessSetup.perform()
        // The threads on which Swift's tasks run block most signals. A library that raises a signal is to die of it
        // here.
        var unblocked = sigset_t()
        sigemptyset(&unblocked)
        pthread_sigmask(SIG_SETMASK, &unblocked, nil)
        let line: String
        do throws(Refusal) {
            let opened = try PluginLibrary.open(library)
            try inspect(opened)
            line = described + opened.plugins.map { " \($0.id)" }.joined()
        } catch {
            line = refused + error.reason
        }
        let bytes = Array((line + "\n").utf8)
        _ = write(output, bytes, bytes.count)
        // The library's exit handlers and destructors are not part of the test.
        _exit(0)
    }

    /// Makes and discards an instance of each plugin in a library, as the host does before it starts a plugin. An error
    /// is ignored: the host finds the errors of each plugin itself. Here it is enough that the calls return.
    private static func inspect(_ library: PluginLibrary) throws(Refusal) {
        let thread: SerialThread
        do throws(ThreadError) { thread = try SerialThread.forPlugin("probe") } catch { throw .cannotOpen("no thread") }
        let account = AccountEnvironment(name: "", logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
        for plugin in library.plugins {
            do throws(Refusal) {
                try PluginInstance(plugin, in: library, settings: "{}", thread: thread, account: account).discard()
            } catch {
                continue
            }
        }
    }
}
