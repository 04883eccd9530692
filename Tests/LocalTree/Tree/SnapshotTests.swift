import Glibc
import Model
import TestSupport
import Testing

@testable import LocalTree

@Suite struct SnapshotTests {
    @Test("no snapshot is taken of a socket, a loop of links or what the kernel makes when it is read")
    func notRegular() throws {
        try withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/outgoing")
            try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
            try #require(mknod("\(folder)/socket", S_IFSOCK | 0o600, 0) == 0)
            try #require(symlink("loop", "\(folder)/loop") == 0)
            for file in [
                "\(folder)/pipe", "\(folder)/socket", "\(folder)/loop", "/proc/cpuinfo", "/dev/null",
                "/sys/devices/system/cpu/online",
            ] {
                let failure = #expect(throws: Failure.self) {
                    try TakenSnapshot.take(of: file, into: "\(folder)/outgoing")
                }
                #expect(failure?.kind == .badData, "\(file)")
                #expect(failure?.message.hasPrefix("\(file) is not a regular file") == true, "\(file)")
            }
            #expect(try Files.names(in: "\(folder)/outgoing") == [])
        }
    }
}
