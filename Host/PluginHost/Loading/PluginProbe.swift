import Glibc
import Logging
import Threads

/// The child process's side of the probe.
public enum PluginProbe {
    static let described = "larder-probe: described"
    static let refused = "larder-probe: refused: "

    /// Opens the library, describes what is in it, makes an instance of each plugin and lets it go, says so on standard output, and ends the process.
    ///
    /// Only the line that is written at the end counts: a library that ends the process before, whatever its exit code, is
    /// known by the line's absence.
    /// - Parameter library: absolute.
    public static func main(library: String) -> Never {
        // The library's own words must not be taken for this line.
        let output = dup(STDOUT_FILENO)
        _ = fcntl(output, F_SETFD, FD_CLOEXEC)
        dup2(STDERR_FILENO, STDOUT_FILENO)
        ProcessSetup.perform()
        // The threads that Swift's tasks run on block most signals; a library that raises one is to die of it here.
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
        // Neither the library's exit handlers nor its destructors are part of the question.
        _exit(0)
    }

    /// Lets each plugin in a library do what the host lets it do before it is started. What is wrong with it the host will see
    /// for itself, plugin by plugin; here it is enough to have come back.
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
