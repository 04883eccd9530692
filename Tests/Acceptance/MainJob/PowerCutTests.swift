import DemoServer
import Glibc
import TestServer
import TestSupport
import Testing

@Suite(.serialized) struct PowerCutTests {
    /// The disk is an image in a file. A power cut leaves the content of the image at one moment, without the data that
    /// the kernel had not written yet. The image is copied twice until both copies are equal, so that the copy shows a
    /// single moment.
    // spec: S24
    @Test(
        "S24: after a power cut no row names bytes that are not there, and the next run heals the rest",
        .enabled(if: Build.isRoot, "mounting a disk image needs root"))
    func powerCut() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                for index in 0..<1_500 {
                    let bytes = [UInt8](repeating: UInt8(index % 251), count: 500 + index * 7)
                    server.tree.put("/d\(index % 20)/f\(index)", bytes)
                }
                let disk = "\(folder)/disk"
                let images = try await images(5, of: disk, in: folder, &random) {
                    let account = try Account(in: disk, server)
                    #expect(try await account.larder("pin", "/").exitCode == 0)
                    return try account.larder.start(["run", "--once"])
                }
                for image in images {
                    try await mounted(image, at: disk) { try await expectHealing(server, disk, seed: seed) }
                }
            }
        }
    }

    // spec: S24
    @Test(
        "S24: after a power cut each upload that is in the journal has its snapshot, and arrives whole",
        .enabled(if: Build.isRoot, "mounting a disk image needs root"))
    func uploads() async throws {
        var random = SeededGenerator()
        let note = Comment(rawValue: "LARDER_TEST_SEED=\(random.seed)")
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                var files: [String: [UInt8]] = [:]
                for index in 0..<900 {
                    let bytes = [UInt8](repeating: UInt8(index % 251), count: 500 + index * 3)
                    files["/up/d\(index % 10)/f\(index)"] = bytes
                    try Files.makeFolder("\(folder)/up/d\(index % 10)")
                    try Files.write(bytes, to: "\(folder)/up/d\(index % 10)/f\(index)")
                }
                let disk = "\(folder)/disk"
                let images = try await images(4, of: disk, in: folder, &random) {
                    _ = server.tree.remove("/up")
                    let account = try Account(in: disk, server)
                    #expect(try await account.larder("run", "--once").exitCode == 0)
                    try await mustRun("sync", [])
                    server.forgetRequests()
                    let child = try account.larder.start(["put", "\(folder)/up", "/up"])
                    // By then something is in the journal.
                    await until { child.hasEnded || server.requests.contains { $0.method == "PUT" } }
                    return child
                }
                var queued = 0
                for image in images {
                    // The folders may count as made at that moment.
                    for path in files.keys { _ = server.tree.remove(path) }
                    for number in 0..<10 { server.tree.makeFolder("/up/d\(number)") }
                    try await mounted(image, at: disk) {
                        let account = try Account(in: disk, server, settings: ["removal-guard: off"])
                        let paths = try await account.queuedUploads()
                        queued += paths.count
                        let result = try await account.larder("run", "--once")
                        #expect(result.exitCode == 0, note)
                        let wrong = paths.filter { server.tree.bytes(of: $0) != files[$0] }
                        #expect(wrong.isEmpty, note)
                    }
                }
                #expect(queued > 0, note)
            }
        }
    }

    private func expectHealing(_ server: TestServer, _ disk: String, seed: UInt64) async throws {
        // Data that was not yet on the disk at the power cut may be missing completely, including the person's own
        // files.
        let account = try Account(in: disk, server)
        if Files.exists(account.vault) {
            let listed = try await account.larder("--json", "ls", "/", "-r", "--where", "cloudStatus == \"localCopy\"")
            for line in listed.lines where listed.exitCode == 0 && line.contains("\"type\":\"file\"") {
                let path = try #require(line.text(of: "path"))
                let local = Files.exists(account.files + path) ? try Files.read(account.files + path) : nil
                #expect(
                    local == server.tree.bytes(of: path), "\(path) is not what its row says; LARDER_TEST_SEED=\(seed)")
            }
        }
        #expect(try await account.larder("pin", "/").exitCode != 75)
        let result = try await account.larder("run", "--once")
        #expect(result.exitCode == 0, "LARDER_TEST_SEED=\(seed)\n\(result.summary)")
        for path in server.tree.paths where !path.hasSuffix("/") {
            #expect(
                try Files.read("\(account.files)\(path)") == server.tree.bytes(of: path),
                "\(path); LARDER_TEST_SEED=\(seed)")
        }
    }

    /// Takes images of a disk at random moments while a process works on it, which is started again on an empty disk when it
    /// has ended.
    private func images(
        _ count: Int, of disk: String, in folder: String, _ random: inout SeededGenerator,
        start: () async throws -> ChildProcess
    ) async throws -> [String] {
        let image = "\(folder)/image"
        try Files.makeFolder(disk)
        var images: [String] = []
        while images.count < count {
            Files.remove(image)
            try await mustRun("truncate", ["-s", "96M", image])
            try await mustRun("mkfs.ext4", ["-q", image])
            try await mounted(image, at: disk) {
                let child = try await start()
                while images.count < count, !child.hasEnded {
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0...700, using: &random)))
                    child.send(SIGSTOP)
                    images.append(try await snapshot(of: image, number: images.count))
                    child.send(SIGCONT)
                }
                child.send(SIGKILL)
                _ = await child.wait()
            }
        }
        return images
    }

    private func snapshot(of image: String, number: Int) async throws -> String {
        let (copy, again) = ("\(image).\(number)", "\(image).again")
        for _ in 0..<50 {
            try await mustRun("cp", ["--sparse=always", image, copy])
            try await mustRun("cp", ["--sparse=always", image, again])
            if try await run("cmp", ["-s", copy, again]).exitCode == 0 {
                Files.remove(again)
                return copy
            }
        }
        throw SetupError("the image is never still")
    }

    private func mounted(_ image: String, at folder: String, _ body: () async throws -> Void) async throws {
        try await mustRun("mount", ["-o", "loop", image, folder])
        do {
            try await body()
        } catch {
            try await mustRun("umount", [folder])
            throw error
        }
        try await mustRun("umount", [folder])
    }
}

extension Account {
    /// Returns the paths of the uploads in the journal.
    fileprivate func queuedUploads() async throws -> [String] {
        let code =
            "import sqlite3, sys\nfor row in sqlite3.connect(sys.argv[1]).execute("
            + "\"SELECT path FROM syncRecords WHERE action = 'upload'\"): print(row[0])"
        let result = try await TestSupport.run("python3", ["-c", code, "\(vault)/larder.db"])
        guard result.exitCode == 0 else { throw SetupError(result.errors) }
        return result.lines
    }
}

extension String {
    /// Returns the text of a property in a line of JSON. The value must not contain escapes.
    fileprivate func text(of property: String) -> String? {
        let quoted = split(separator: "\"", omittingEmptySubsequences: false)
        guard let index = quoted.firstIndex(of: Substring(property)), index + 2 < quoted.count else { return nil }
        return String(quoted[index + 2])
    }
}
