import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite(.serialized) struct ProjectProcessTests {
    /// The system calls that change files. A process that is killed before one of them has performed all earlier ones.
    private static let calls = [
        "flock", "mkdir", "write", "link", "rename", "renameat2", "fsync", "fchmod", "chmod", "utimensat", "unlink",
        "rmdir",
    ]

    /// Runs a command repeatedly. The kernel kills the process before each of its calls in turn.
    /// - Parameters:
    ///   - prepare: returns the command's words.
    ///   - check: gets the call at which the process was killed, or nil if the process ended by itself.
    /// - Returns: how often the process was killed.
    private func killedAtEachCall(
        _ projects: ProjectFolder, _ prepare: () async throws -> [String], _ check: (String?) async throws -> Void
    ) async throws -> Int {
        var kills = 0
        for call in Self.calls {
            var number = 0
            while true {
                number += 1
                let words = try await prepare()
                let result = try await run(
                    "strace",
                    [
                        "-f", "-qq", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=KILL:when=\(number)", try Build.larder, "project",
                    ] + words + ["--base", projects.base])
                guard result.status == .signal(SIGKILL) else {
                    #expect(result.exitCode == 0, "\(result.errors)")
                    try await check(nil)
                    break
                }
                kills += 1
                try await check("\(call) \(number)")
            }
        }
        return kills
    }

    @Test(
        "W05 W19: add-step killed by the kernel at each system call that changes something leaves the old or the new state",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"))
    func killedUpdate() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            let id = try await projects.must("create")
            for _ in 0..<2 { _ = try await projects.must("add-step", id) }
            _ = try await projects.must("undo", id)
            try Files.write("data", to: "\(folder)/data")
            var before = try await projects.project(id)
            var changed = 0
            let kills = try await killedAtEachCall(projects) {
                before = try await projects.project(id)
                Files.remove("\(folder)/assets")
                try Files.write("picture", to: "\(folder)/assets/picture")
                return ["add-step", id, "--user-data", "\(folder)/data", "--assets", "\(folder)/assets"]
            } _: { call in
                // A reader sees what is in the folder at present, before the next command removes leftovers.
                let list = try Files.read("\(projects.base)/\(id)/data/stepIDs").count / 16
                let after = try await projects.project(id)
                #expect(after.steps.count == list, "\(call ?? "")")
                if after == before {
                    #expect(call != nil)
                    #expect(try Files.text("\(folder)/assets/picture") == "picture", "\(call ?? "")")
                } else {
                    changed += 1
                    #expect(after.steps.count == 2 && after.steps[0] == before.steps[0] && after.stepCursor == 2)
                    #expect(after.steps[1] != before.steps[1])
                    let step = try StepObject(line: await projects.must("step", id, after.steps[1], "--json"))
                    #expect(step.userData == Data("data".utf8))
                    #expect(try Files.text("\(step.assets)/picture") == "picture")
                    _ = try await projects.must("undo", id)
                }
                try expectNoRest(projects, steps: [id: after.steps], "killed at \(call ?? "no call")")
            }
            #expect(kills > 30)
            #expect(changed > Self.calls.count, "some are killed after the change")
        }
    }

    @Test(
        "W04 W19: delete killed by the kernel at each system call that changes something leaves the project whole or gone",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"))
    func killedDeletion() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            var (id, step) = ("", "")
            let kills = try await killedAtEachCall(projects) {
                id = try await projects.must("create")
                step = try await projects.must("add-step", id)
                return ["delete", id]
            } _: { call in
                let isListed = Files.exists("\(projects.base)/\(id)")
                let shown = try await projects("show", id)
                #expect(shown.exitCode == (isListed ? 0 : 66), "killed at \(call ?? "no call"): \(shown.errors)")
                if isListed {
                    #expect(call != nil)
                    #expect(try await projects.project(id).steps == [step])
                    _ = try await projects.must("step", id, step)
                    _ = try await projects.must("delete", id)
                }
                try expectNoRest(projects, steps: [:], "killed at \(call ?? "no call")")
            }
            #expect(kills > 10)
        }
    }

    /// Expects that the base folder contains the named projects and steps, and nothing else.
    private func expectNoRest(_ projects: ProjectFolder, steps: [String: [String]], _ when: Comment) throws {
        #expect(try Files.names(in: projects.base) == ([".lock", ".staging"] + steps.keys).sorted(), when)
        #expect(try Files.names(in: "\(projects.base)/.staging") == [], when)
        for (id, steps) in steps {
            #expect(try Files.names(in: "\(projects.base)/\(id)/steps") == steps.sorted(), when)
            #expect(try Files.names(in: "\(projects.base)/\(id)") == ["assets", "data", "steps"], when)
        }
    }

    /// The duration of the tests in seconds, so that they can run for a minute instead of moments:
    /// `LARDER_PROJECT_SECONDS=60`.
    private static let seconds = ProcessInfo.processInfo.environment["LARDER_PROJECT_SECONDS"].flatMap(Int.init)

    @Test("W18: eight processes at a time update one project, and no update is lost")
    func processes() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            let id = try await projects.must("create")
            let clock = ContinuousClock()
            let end = Self.seconds.map { clock.now + .seconds($0) }
            let counts = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
                for process in 0..<8 {
                    group.addTask {
                        var count = 0
                        while end.map({ clock.now < $0 }) ?? (count < 5) {
                            let data = "\(folder)/\(process)"
                            try Files.write("\(process) \(count)", to: data)
                            _ = try await projects.must(
                                "add-step", id, "--user-data", data, "--project-user-data", data)
                            count += 1
                            let seen = try await projects.project(id)
                            guard seen.steps.count == seen.stepCursor, seen.userData?.isEmpty == false else {
                                throw SetupError("a mix: \(seen)")
                            }
                        }
                        return count
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let project = try await projects.project(id)
            print("\(counts.reduce(0, +)) updates by 8 processes")
            #expect(project.stepCursor == counts.reduce(0, +))
            #expect(project.steps.count == project.stepCursor)
            var seen: Set<String> = []
            for step in project.steps {
                seen.insert(try Files.text("\(projects.base)/\(id)/steps/\(step)/data/userData"))
            }
            #expect(seen.count == project.stepCursor)
            #expect(project.userData.map { seen.contains(String(decoding: $0, as: UTF8.self)) } == true)
            try expectNoRest(projects, steps: [id: project.steps], "after all")
        }
    }
}
