import Glibc
import TestSupport
import Testing
import Threads

@testable import larder

@Suite struct RunningProgramTests {
    private let folder = TemporaryFolder()

    private func start(_ script: String) async throws -> RunningProgram {
        let output = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(output) }
        return try await RunningProgram.start(ChildProgram(words: ["sh", "-c", script]), output: output)
    }

    @Test("A program tells how it ended")
    func endings() async throws {
        #expect(try await start("exit 3").ended() == .code(3))
        #expect(try await start("kill -USR1 $$").ended() == .signal(SIGUSR1))
    }

    @Test("A program that is stopped heeds the signal that asks it to end; one that ignores it is killed")
    func stopped() async throws {
        let stopped = try await start("kill -STOP $$; sleep 1000")
        await until {
            (try? Files.text("/proc/\(stopped.pid)/stat"))?.split(separator: ")").last?.hasPrefix(" T") == true
        }
        #expect(await stopped.end(by: SIGTERM, within: .seconds(300)) == .signal(SIGTERM))
        let deaf = try await start("trap '' TERM; touch '\(folder.path)/deaf'; sleep 1000; sleep 1000")
        await until { Files.exists("\(folder.path)/deaf") }
        #expect(await deaf.end(by: SIGTERM, within: .milliseconds(10)) == .signal(SIGKILL))
    }

    @Test("A program ends with the task that waits for it, and what it left in its group ends with it")
    func cancelled() async throws {
        let program = try await start(
            "sleep 1000 & echo $! > '\(folder.path)/new'; mv '\(folder.path)/new' '\(folder.path)/pid'; wait")
        await until { Files.exists("\(folder.path)/pid") }
        let task = Task { await program.endedOrEnd(by: SIGTERM, within: .seconds(300)) }
        task.cancel()
        #expect(await task.value == .signal(SIGTERM))
        let other = pid_t(try Files.text("\(folder.path)/pid").trimming) ?? 0
        await until { kill(other, 0) != 0 || (try? Files.text("/proc/\(other)/stat"))?.contains(") Z") == true }
    }
}

extension String {
    fileprivate var trimming: String { String(prefix { $0.isNumber }) }
}
