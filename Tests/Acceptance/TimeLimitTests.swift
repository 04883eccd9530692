import Glibc
import TestSupport
import Testing

/// What a test learns about a program that it killed because the program did not end.
@Suite struct TimeLimitTests {
    @Test("A program that does not end in its time is killed, and its errors say when and what its threads did")
    func killed() async throws {
        let result = try await run("sh", ["-c", "echo begun >&2; sleep 3600; :"], timeout: .seconds(2))
        guard case .killed(.seconds(2), let threads) = result.status else {
            Issue.record("\(result.status)")
            return
        }
        #expect(result.exitCode == nil && result.errors.hasPrefix("begun\nkilled by the test"), "\(result.errors)")
        #expect(result.errors.contains("2.0 seconds") && result.errors.hasSuffix(threads + "\n"), "\(result.errors)")
        // The list contains the shell and the program that the shell waits for.
        #expect(threads.contains(/process \d+ sh -c echo begun/), "\(threads)")
        #expect(threads.contains(/process \d+ sleep 3600\n  thread \d+ sleep: state S, wchan/), "\(threads)")
    }

    @Test("A program that a signal ends in its time has that signal's status, SIGKILL too")
    func signal() async throws {
        #expect(try await run("sh", ["-c", "kill -KILL $$"]).status == .signal(9))
        let child = try ChildProcess("sleep", ["3600"])
        child.send(SIGKILL)
        #expect(await child.wait(atMost: .seconds(120)) == .signal(SIGKILL))
    }
}
