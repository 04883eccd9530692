import DemoServer
import FoundationEssentials
import TestServer
import TestSupport
import Testing

/// Plugins in C and in Swift that keep their state as projects, in hosts as a person runs them.
@Suite(.serialized) struct PluginProjectTests {
    /// Makes an account with both plugins.
    /// - Parameters:
    ///   - c: further keys in the config of the plugin in C.
    ///   - swift: further keys in the config of the plugin in Swift.
    private func account(
        in folder: String, _ server: TestServer, c: String = "", swift: String = ""
    ) throws -> Account {
        try Account(
            in: folder, server,
            settings: [
                "plugins:",
                "  org.example.keeper: { library: \"\(folder)/keeper.so\", isolation: in-process, \(c) "
                    + "settings: { script: \"\(folder)/script\" } }",
                "  org.example.minutes: { library: \"\(folder)/minutes.so\", isolation: in-process, \(swift) }",
            ])
    }

    private func withPlugins(_ body: (String, TestServer) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("keeper", to: "\(folder)/keeper.so")
            try await CompiledPlugin.buildSwift(
                "\(Build.root)/Tests/Support/Plugins/minutes.swift", module: "Minutes", to: "\(folder)/minutes.so")
            try await TestServer.running { server in
                server.tree.put("/a", "one")
                try await body(folder, server)
            }
        }
    }

    /// Returns the lines that the plugin in C wrote about its instructions, and removes them.
    private func said(_ folder: String) throws -> [String] {
        defer { Files.remove("\(folder)/script.out") }
        return Files.exists("\(folder)/script.out")
            ? try Files.text("\(folder)/script.out").split(separator: "\n").map(String.init) : []
    }

    private func must(_ account: Account, _ words: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(words)
        #expect(result.exitCode == 0, "\(words)\n\(result.summary)")
        return result
    }

    /// Returns the project of a program, as the command shows it.
    private func project(of program: String, _ account: Account) async throws -> ProjectObject {
        let all = try await must(account, "--json", "project", "list").lines.map { try ProjectObject(line: $0) }
        let own = all.filter { $0.bundleID == program }
        guard own.count == 1, let id = own.first?.id else { throw SetupError("\(program) has \(own.count) projects") }
        let shown = try await must(account, "--json", "project", "show", id, "--user-data")
        return try ProjectObject(line: shown.lines.last ?? "")
    }

    @Test(
        "G11 W09: plugins in C and Swift keep state as projects; a person sees it, goes back, and they go on from there"
    )
    func story() async throws {
        try await withPlugins { folder, server async throws in
            let account = try account(in: folder, server)
            try Files.write("mine\nadd x - whole\nfetch\n", to: "\(folder)/script")
            for run in 1...2 {
                _ = try await must(account, "run", "--once")
                #expect(
                    try said(folder).dropLast() == [
                        "mine 0", "add 0", "fetch 0 \(run)/\(run) undo 1 redo 0 steps there data whole",
                    ])
            }
            #expect(try await project(of: "org.example.keeper", account).stepCursor == 2)
            let minutes = try await project(of: "org.example.minutes", account)
            #expect(minutes.stepCursor == 2 && minutes.steps.count == 2)
            #expect(minutes.userData.map { String(decoding: $0, as: UTF8.self) } == "2 updates")
            #expect(try await must(account, "project", "undo", minutes.id).output == "1 of 2 steps applied\n")
            _ = try await must(account, "run", "--once")
            let later = try await project(of: "org.example.minutes", account)
            #expect(later.id == minutes.id && later.stepCursor == 2 && later.steps.count == 2)
            #expect(later.steps.first == minutes.steps.first && later.steps.last != minutes.steps.last)
            let step = try await must(account, "project", "step", later.id, later.steps.last ?? "")
            #expect(step.output.contains("update 2"), "\(step.output)")
        }
    }

    @Test("P54: explain and a dry run change no project, and say so")
    func preview() async throws {
        try await withPlugins { folder, server async throws in
            let account = try account(in: folder, server)
            _ = try await must(account, "run", "--once")
            try Files.write("mine\nlist\n", to: "\(folder)/script")
            _ = try await must(account, "run", "--once")
            let before = try Files.filesBelow("\(account.vault)/projects")
            try Files.write("mine\nadd x\nundo\nremove\n", to: "\(folder)/script")
            _ = try said(folder)
            let run = try await must(account, "policy", "run", "--dry-run")
            #expect(try said(folder) == ["mine 0", "add -6", "undo -6", "remove -6"])
            #expect(
                run.errors.contains("refused projects.add_step during didPassTrigger: this is a preview"),
                "\(run.errors)")
            _ = try await must(account, "explain", "/a")
            #expect(try Files.filesBelow("\(account.vault)/projects") == before)
        }
    }

    @Test("G11: a quota and withheld services stand in the config, and hosts and `plugin why` act by them")
    func limits() async throws {
        try await withPlugins { folder, server async throws in
            let limited = try account(
                in: folder, server, c: "project-quota: 2kB,", swift: "withhold: [larder.projects/1]")
            try Files.write("mine\nlarge 1500\nlarge 1500\nfetch 0\n", to: "\(folder)/script")
            let run = try await limited.larder("run", "--once")
            #expect(
                try said(folder).prefix(4) == [
                    "mine 0", "large 0", "large -8", "fetch 0 1/1 undo 1 redo 0 steps null data absent",
                ], "\(run.summary)")
            #expect(run.errors.contains("but `project-quota` is 2000"), "\(run.errors)")
            let why = try await must(limited, "plugin", "why", "org.example.minutes")
            #expect(
                why.output.contains("it requires the service larder.projects/1, which the config withholds"),
                "\(why.output)")
            let shown = try await must(limited, "config", "show").output
            #expect(shown.contains("plugins.org.example.keeper.project-quota") && shown.contains("2kB"))
            let all = try await must(limited, "--json", "project", "list").lines.map { try ProjectObject(line: $0) }
            #expect(!all.contains { $0.bundleID == "org.example.minutes" })
            // The service is granted to the plugin in Swift again, so this plugin runs.
            let open = try account(in: folder, server, c: "withhold: [larder.projects/1],")
            _ = try await must(open, "run", "--once")
            #expect(try said(folder) == ["mine withheld", "large withheld", "large withheld", "fetch withheld"])
            #expect(try await project(of: "org.example.minutes", open).stepCursor == 1)
        }
    }
}
