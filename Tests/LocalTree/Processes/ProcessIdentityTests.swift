import Glibc
import LocalTree
import Model
import Testing

@Suite struct ProcessIdentityTests {
    @Test("P49: a process lives until it was killed, though nobody has waited for it yet")
    func processes() throws {
        var pid: pid_t = 0
        var arguments = [strdup("sleep"), strdup("1000"), nil]
        defer { for argument in arguments { free(argument) } }
        try #require(posix_spawnp(&pid, "sleep", nil, nil, &arguments, environ) == 0)
        let identity = try ProcessIdentity.current(pid)
        var later = identity
        later.started += 1
        var rebooted = identity
        rebooted.boot = "another"
        let world = ClaimWorld.current(now: Timestamp(seconds: 0))
        #expect(world.isAlive(identity) && !world.isAlive(later) && !world.isAlive(rebooted))
        kill(pid, SIGKILL)
        var info = siginfo_t()
        #expect(waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) == 0)
        #expect(!world.isAlive(identity))
        waitpid(pid, nil, 0)
        #expect(!world.isAlive(identity))
        let gone = #expect(throws: Failure.self) { try ProcessIdentity.current(pid) }
        #expect(gone?.kind == .badData)
    }
}
