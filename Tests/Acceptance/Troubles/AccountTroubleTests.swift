import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

/// Two accounts of one host, one of which is in trouble.
@Suite(.serialized) struct AccountTroubleTests {
    /// Returns the command for a host with the accounts `small`, whose vault is at `disk`, and `other`.
    private func command(_ folder: String, _ disk: String, _ server: TestServer) throws -> LarderCommand {
        try Files.write(server.configuration.password, to: "\(folder)/password", mode: 0o600)
        var lines = ["poll: 1s", "accounts:"]
        for (name, vault) in [("small", "\(disk)/vault"), ("other", "\(folder)/vault")] {
            lines += [
                """
                  - { name: \(name), url: "\(server.url)", username: \(server.configuration.user), \
                vault: "\(vault)",
                """,
                "      password: { file: \"\(folder)/password\" } }",
            ]
        }
        try Files.write(lines.joined(separator: "\n") + "\n", to: "\(folder)/config.yaml", mode: 0o600)
        try Files.makeFolder("\(folder)/home")
        return LarderCommand(config: "\(folder)/config.yaml", home: "\(folder)/home")
    }

    /// Tells whether an account lists a path.
    private func isListed(_ path: String, _ account: String, _ larder: LarderCommand) async -> Bool {
        (try? await larder("--account", account, "ls", path))?.exitCode == 0
    }

    /// Fills a disk to its last byte.
    private func fill(_ disk: String) throws {
        let file = open("\(disk)/ballast", O_WRONLY | O_CREAT, 0o600)
        #expect(file >= 0)
        defer { close(file) }
        for size in [1 << 20, 4_096, 1] {
            let block = [UInt8](repeating: 7, count: size)
            while write(file, block, size) == size {}
        }
        #expect(errno == ENOSPC && fsync(file) == 0)
    }

    @Test(
        "H11: a full disk of one account: the other does not notice; it says so, waits, and goes on when there is room",
        .enabled(if: Build.isRoot, "mounting a small file system needs root"))
    func fullDisk() async throws {
        try await withTemporaryFolder { folder in
            let disk = "\(folder)/disk"
            try Files.makeFolder(disk)
            try await mustRun("truncate", ["-s", "40M", "\(folder)/image"])
            try await mustRun("mkfs.ext4", ["-q", "-m", "0", "\(folder)/image"])
            try await mustRun("mount", ["-o", "loop", "\(folder)/image", disk])
            do {
                try await TestServer.running { server in
                    let larder = try command(folder, disk, server)
                    server.tree.put("/first", "1")
                    let host = try larder.start(["run"], errors: "\(folder)/errors")
                    do {
                        for account in ["small", "other"] {
                            try await soon("\(account) lists") { await isListed("/first", account, larder) }
                        }
                        try fill(disk)
                        server.tree.put("/second", "2")
                        try await soon("it says so") {
                            ((try? Files.text("\(folder)/errors")) ?? "").contains("The account waits")
                        }
                        try await soon("the other goes on") { await isListed("/second", "other", larder) }
                        let status = try await larder("--account", "small", "status")
                        #expect(status.output.contains("  waits      The disk is full"), "\(status.summary)")
                        let json = try await larder("--account", "small", "--json", "status").output
                        #expect(json.contains(#""trouble":{"message":"The disk is full"#), "\(json)")
                        let other = try await larder("--account", "other", "--json", "status").output
                        #expect(other.contains(#""trouble":null"#), "\(other)")

                        Files.remove("\(disk)/ballast")
                        try await soon("it goes on") { await isListed("/second", "small", larder) }
                        #expect(!host.hasEnded)
                        host.send(SIGTERM)
                        #expect(await host.wait(atMost: .seconds(120)) == .code(0))
                        let said = try Files.text("\(folder)/errors")
                        #expect(said.components("The account waits").count == 1, "\(said)")
                    } catch {
                        await host.stop()
                        throw error
                    }
                }
            } catch {
                try await mustRun("umount", [disk])
                throw error
            }
            try await mustRun("umount", [disk])
        }
    }
}

extension String {
    fileprivate func components(_ part: String) -> [Substring] {
        split(separator: "\n").filter { $0.contains(part) }
    }
}
