import DemoServer
import TestServer
import TestSupport
import Testing

/// Every command of an account: without a host, through a host, and beside a host that has another account.
@Suite(.serialized) struct ThreeWaysTests {
    /// The commands in their order. Each changes what the next ones find.
    private static let commands: [[String]] = [
        ["pin", "/a"], ["pin", "/a"], ["pin", "/nope"], ["unpin", "/a"], ["unpin", "/a"],
        ["policy", "add", "--kind", "availableOffline", "--where", "path == \"/b\"", "--id", "mine"],
        ["policy", "add", "--kind", "availableOffline", "--where", "path == \"/b\"", "--id", "mine"],
        ["policy", "add", "--kind", "availableOfline", "--where", "true", "--id", "unknown-kind"],
        ["policy", "remove", "unknown-kind"], ["policy", "update", "mine", "--description", "a text"],
        ["policy", "list"], ["policy", "remove", "mine"], ["policy", "remove", "mine"], ["policy", "undo"],
        ["policy", "redo"], ["policy", "redo"], ["get", "/b"], ["get", "/Folder"], ["get", "/nope"],
        ["get", "/b", "--to", "/proc/nope"], ["get", "/Folder", "--to", "out"], ["get", "/late %.txt"], ["use", "/b"],
        ["use", "/nope"], ["claim", "add", "/b", "--type", "read", "--id", "mine"],
        ["claim", "add", "/Folder", "--type", "read"], ["claim", "list"], ["free", "/b"], ["claim", "remove", "mine"],
        ["claim", "remove", "mine"], ["free", "/b"], ["free", "/nope"], ["sync", "cancel", "999"],
        ["sync", "retry", "999"], ["issue", "resolve", "999", "retry"],
        ["issue", "resolve", "--all", "--code", "none", "retry"], ["loop", "poll"], ["loop", "disable", "core"],
        ["loop", "poll", "core"], ["loop", "enable", "core"], ["loop", "enable", "nope"], ["loop", "list"],
        ["account", "verify"], ["plugin", "disable", "vacuum"], ["plugin", "disable", "vacuum"],
        ["plugin", "enable", "vacuum"], ["plugin", "retry", "vacuum"], ["plugin", "retry", "nope"], ["stat", "/b"],
        ["mkdir", "/made"], ["mkdir", "/made"], ["mkdir", "/no/such"], ["put", "/etc/passwd", "/made/50% ü"],
        ["put", "/etc/passwd", "/made/50% ü"], ["put", "--replace", "/etc/passwd", "/made/50% ü"],
        ["put", "/no/such", "/made/x"], ["cp", "/b", "/made/b"], ["cp", "/b", "/made/b"], ["cp", "/nope", "/made/c"],
        ["mv", "/made/b", "/made/c"], ["mv", "/nope", "/made/d"], ["mv", "/made", "/made/e"], ["favorite", "/b"],
        ["favorite", "/b"], ["favorite", "/b", "--off"], ["favorite", "/nope"], ["rm", "/made/c"], ["rm", "/made/c"],
        ["rm", "/"], ["rm", "/made"], ["ls", "-r"],
        ["issue", "list"], ["account", "remove", "nope"], ["account", "remove", "home"],
    ]

    @Test("Each command gives the same output and code without a host, with one, and beside another account's")
    func threeWays() async throws {
        try await withTemporaryFolder { folder in
            let alone = try await results(in: "\(folder)/alone", host: nil)
            let hosted = try await results(in: "\(folder)/hosted", host: "home")
            let beside = try await results(in: "\(folder)/beside", host: "other")
            for (index, command) in Self.commands.enumerated() {
                let name = command.joined(separator: " ")
                #expect(hosted[index] == alone[index], "\(name)")
                #expect(beside[index] == alone[index], "\(name)")
            }
        }
    }

    /// Runs all commands, by turns for people and with `--json`, on a new server.
    /// - Parameter host: the account that a host runs meanwhile; nil for no host.
    private func results(in folder: String, host: String?) async throws -> [String] {
        try Files.makeFolder(folder)
        return try await TestServer.running { server in
            for path in ["/a", "/b", "/Folder/c", "/Folder/d"] { server.tree.put(path, path, modified: 1_600_000_000) }
            var account = try Account(in: "\(folder)/home", server, settings: ["poll: 1h"])
            account.larder.hasLoops = true
            let other = try Account(in: "\(folder)/other", server, settings: ["poll: 1h"])
            #expect(try await account.larder("run", "--once").exitCode == 0)
            server.tree.put("/late %.txt", "late", modified: 1_600_000_000)
            let hosted = host == "home" ? account : other
            let process = host == nil ? nil : try hosted.larder.start(["run"], errors: "\(folder)/log")
            if let process { _ = try await hosted.untilCommanded(process) }
            if let process { try await hosted.untilOnline(process, log: "\(folder)/log") }
            var results: [String] = []
            for (index, command) in Self.commands.enumerated() {
                let result = try await account.larder.run(index.isMultiple(of: 2) ? command : ["--json"] + command)
                let text = "\(result.status)\n\(result.output)\n\(result.errors)"
                results.append(Self.normalized(text, folder: folder))
            }
            if let process { #expect(await process.stop() == .code(0)) }
            return results
        }
    }

    /// Returns a text without what differs between two runs: folders, ports, ids and times.
    private static func normalized(_ text: String, folder: String) -> String {
        var text = text
        for (pattern, name) in [
            (folder, "FOLDER"), ("127\\.0\\.0\\.1:[0-9]+", "SERVER"),
            ("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z", "TIME"),
            ("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "UUID"),
            ("\\b[0-9a-f]{16,32}\\b", "ID"), (" +", " "),
            // Only a running host has a next poll.
            ("TIME TIME", "TIME -"), ("\"nextPoll\":\"TIME\"", "\"nextPoll\":null"),
        ] {
            guard let regex = try? Regex(pattern) else { continue }
            text = text.replacing(regex, with: name)
        }
        return text
    }
}
