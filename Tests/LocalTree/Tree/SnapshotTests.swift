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

    @Test("a snapshot names its file without symbolic links, whichever files were taken before it")
    func sources() throws {
        try withTemporaryFolder { folder in
            let folder = try #require(TakenSnapshot.resolvedPath(folder))
            // The two forms of a letter, which Swift finds equal.
            let folders = ["one", "two", "\u{e9}", "e\u{301}"]
            for name in ["outgoing"] + folders { try Files.makeFolder("\(folder)/\(name)") }
            for name in folders { try Files.write(name, to: "\(folder)/\(name)/f") }
            try #require(symlink("two", "\(folder)/link") == 0)
            try #require(symlink("../one/f", "\(folder)/two/link") == 0)
            let batch = try SnapshotBatch(in: "\(folder)/outgoing")
            let files = [
                ("one/f", "one/f"), ("link/f", "two/f"), ("two/link", "one/f"), ("link/link", "one/f"),
                ("two//f", "two/f"), ("\u{e9}/f", "\u{e9}/f"), ("e\u{301}/f", "e\u{301}/f"),
            ]
            for (name, file) in files {
                let snapshot = try batch.take("\(folder)/\(name)")
                #expect(snapshot.source.map { Array($0.utf8) } == Array("\(folder)/\(file)".utf8), "\(name)")
                #expect(try Files.names(in: "\(folder)/outgoing").contains(snapshot.name))
            }
            #expect(throws: Failure.self) { try batch.take("\(folder)/two/link", followsLink: false) }
        }
    }
}
