import DemoServer
import TestServer
import TestSupport
import Testing

/// Tests with rclone's client for servers of the ownCloud family, which is not part of Larder.
@Suite struct RcloneTests {
    @Test("rclone takes the demo server for one of the ownCloud family: it copies, checks, moves, measures and removes")
    func client() async throws {
        try await TestServer.running { server async throws in
            try await withTemporaryFolder { folder in
                let password = try await mustRun("rclone", ["obscure", server.configuration.password])
                let environment = [
                    "PATH": "/usr/bin:/bin", "HOME": folder, "RCLONE_CONFIG": "\(folder)/rclone.conf",
                    "RCLONE_WEBDAV_URL": server.folderURL, "RCLONE_WEBDAV_VENDOR": "owncloud",
                    "RCLONE_WEBDAV_USER": server.configuration.user,
                    "RCLONE_WEBDAV_PASS": String(password.prefix { $0 != "\n" }),
                ]
                func rclone(_ arguments: String...) async throws -> String {
                    let result = try await run("rclone", ["--retries", "1"] + arguments, environment: environment)
                    #expect(result.exitCode == 0, "\(arguments): \(result.errors)")
                    return result.output
                }
                try Files.makeFolder("\(folder)/in")
                try Files.makeFolder("\(folder)/in/deep")
                try Files.write("hello", to: "\(folder)/in/a b&c.txt")
                try Files.write(String(repeating: "0123456789abcdef", count: 200_000), to: "\(folder)/in/deep/large")
                try await mustRun("touch", ["-d", "2001-09-09 01:46:40 UTC", "\(folder)/in/a b&c.txt"])
                _ = try await rclone("copy", "\(folder)/in", ":webdav:there")
                #expect(server.tree.paths == ["/there/", "/there/a b&c.txt", "/there/deep/", "/there/deep/large"])
                _ = try await rclone("check", "\(folder)/in", ":webdav:there")
                let sums = try await rclone("sha1sum", ":webdav:there/a b&c.txt")
                #expect(sums.hasPrefix("aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"))
                let listed = try await rclone("lsf", "--format", "tps", ":webdav:there")
                #expect(listed.contains("2001-09-09 01:46:40;a b&c.txt;5"))
                server.forgetRequests()
                _ = try await rclone("copy", "\(folder)/in", ":webdav:there")
                #expect(server.count("PUT") == 0)
                _ = try await rclone("moveto", ":webdav:there/deep", ":webdav:moved")
                #expect(server.count("MOVE") == 1 && server.tree.exists("/moved/large"))
                _ = try await rclone("copyto", ":webdav:moved/large", ":webdav:there/copy")
                #expect(server.count("COPY") == 1)
                server.quota = 10_000_000
                #expect(try await rclone("about", ":webdav:", "--json").contains("\"free\""))
                _ = try await rclone("purge", ":webdav:moved")
                _ = try await rclone("deletefile", ":webdav:there/copy")
                #expect(server.tree.paths == ["/there/", "/there/a b&c.txt"])
            }
        }
    }
}
