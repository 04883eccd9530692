import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite struct ProjectCommandTests {
    @Test("W01 W09: a project is made, worked on, undone, copied and removed by command, without an account")
    func story() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            #expect(try await projects.must("list") == "")
            #expect(try await projects.must("size") == "0")
            #expect(!Files.exists(projects.base))
            let id = try await projects.must("create", "--bundle-id", "org.example.editor")
            try Files.write("{\"n\":1}", to: "\(folder)/data")
            try Files.write("whole", to: "\(folder)/project data")
            try Files.write("picture", to: "\(folder)/assets/100%.png")
            let first = try await projects.must(
                "add-step", id, "--user-data", "\(folder)/data", "--assets", "\(folder)/assets",
                "--project-user-data", "\(folder)/project data")
            // The assets were copied, not moved.
            #expect(try Files.text("\(folder)/assets/100%.png") == "picture")
            let second = try await projects.must("add-step", id)
            var project = try await projects.project(id)
            #expect(project.steps == [first, second])
            #expect(project.stepCursor == 2 && project.canUndo && !project.canRedo)
            #expect(project.bundleID == "org.example.editor")
            #expect(project.userData == Data("whole".utf8))
            #expect(project.assets == "\(projects.base)/\(id)/assets")
            let step = try StepObject(line: await projects.must("step", id, first, "--json"))
            #expect(step.userData == Data("{\"n\":1}".utf8) && step.project == id && step.id == first)
            #expect(try Files.text("\(step.assets)/100%.png") == "picture")
            #expect(try await projects.must("step", id, first).contains("{\"n\":1}"))

            #expect(try await projects.must("undo", id) == "1 of 2 steps applied")
            let drawing = try await projects.must("show", id).split(separator: "\n").map(String.init)
            #expect(drawing.suffix(3) == ["  ● 1  \(first)", "  ▶ cursor", "  ○ 2  \(second)"])
            #expect(try await projects.must("redo", id) == "2 of 2 steps applied")
            try Files.write("new", to: "\(folder)/data")
            #expect(
                try await projects.must(
                    "update", id, "--cursor", "1", "--delete-step", first, "--user-data", "\(folder)/data") == "")
            project = try await projects.project(id)
            #expect(project.steps == [second] && project.stepCursor == 1 && project.userData == Data("new".utf8))

            let copy = try await projects.must("duplicate", id)
            _ = try await projects.must(
                "date", copy, "--created", "2001-02-03T04:05:06.789Z", "--modified", "2002-01-01T01:00:00+01:00")
            let dated = try await projects.project(copy)
            #expect(dated.created == "2001-02-03T04:05:06.789Z" && dated.modified == "2002-01-01T00:00:00Z")
            #expect(dated.steps == project.steps && dated.bundleID == project.bundleID)
            for words in [["--ascending"], ["--sort", "modified", "--ascending"]] {
                let list = try await projects.larder.run(
                    ["project", "list", "--base", projects.base, "--json"] + words)
                #expect(try list.lines.map { try ProjectObject(line: $0).id } == [copy, id])
            }
            #expect(try await projects.must("list").split(separator: "\n").count == 3)
            let sizes = try await [projects.must("size", id), projects.must("size", copy), projects.must("size")]
                .compactMap(Int.init)
            #expect(sizes.count == 3 && sizes[0] == project.size && sizes[0] + sizes[1] == sizes[2])
            #expect(try await projects.must("delete", id) == "")
            let left = try await projects("list", "--json").lines.map { try ProjectObject(line: $0).id }
            #expect(left == [copy])
        }
    }

    @Test("W15: what makes no sense is 65, what is not there 66, the disk 74, and a wrong command line 64")
    func exitCodes() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            let unknown = "0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6"
            // The commands run before the base folder exists, and after.
            for isThere in [false, true] {
                #expect(try await projects("show", unknown).exitCode == 66)
                if !isThere { _ = try await projects.must("create") }
            }
            let id = try await projects.must("create")
            #expect(symlink("/etc/passwd", "\(folder)/link") == 0)
            try Files.makeFolder("\(folder)/linked")
            #expect(symlink("/etc", "\(folder)/linked/etc") == 0)
            let expected: [(Int32, [String])] = [
                (65, ["undo", id]), (65, ["redo", id]), (65, ["update", id, "--cursor", "1"]),
                (65, ["update", id, "--cursor=-1"]), (65, ["show", "no id"]), (65, ["step", id, "no id"]),
                (65, ["date", id, "--created", "yesterday"]), (65, ["add-step", id, "--assets", "\(folder)/link"]),
                (65, ["add-step", id, "--assets", "\(folder)/missing"]),
                (65, ["add-step", id, "--assets", "\(folder)/linked"]),
                (65, ["add-step", id, "--assets", projects.base]), (64, ["add-step", id, "--move"]),
                (66, ["show", unknown]), (66, ["step", id, unknown]), (66, ["step", unknown, unknown]),
                (66, ["update", unknown]), (66, ["add-step", unknown]), (66, ["undo", unknown]),
                (66, ["redo", unknown]),
                (66, ["duplicate", unknown]), (66, ["delete", unknown]), (66, ["size", unknown]),
                (66, ["date", unknown, "--created", "2001-02-03T04:05:06Z"]),
                (74, ["add-step", id, "--user-data", "\(folder)/missing"]),
                (64, ["show"]), (64, ["date", id]), (64, ["list", "--sort", "size"]), (64, ["nosuch"]),
                (64, ["update", id, "--cursor", "x"]),
            ]
            let before = try Files.filesBelow(projects.base)
            for (code, words) in expected {
                let result = try await projects.larder.run(["--json", "project"] + words + ["--base", projects.base])
                #expect(result.exitCode == code, "\(words): \(result.status) \(result.errors)")
                #expect(result.lines.last?.hasPrefix("{\"error\":{\"code\":") == true, "\(words): \(result.output)")
                #expect((1...2).contains(result.errors.split(separator: "\n").count), "\(words): \(result.errors)")
            }
            #expect(try Files.filesBelow(projects.base) == before)
            #expect(try Files.names(in: "\(folder)/linked") == ["etc"])

            try Files.write("", to: "\(folder)/file")
            for words in [["create"], ["list"], ["size"], ["show", id]] {
                let result = try await projects.larder.run(["project"] + words + ["--base", "\(folder)/file/base"])
                #expect(result.exitCode == 74, "\(words): \(result.status) \(result.errors)")
            }
            // One project that cannot be read does not hide the other.
            try Files.write("{", to: "\(projects.base)/\(id)/data/metadata")
            let list = try await projects("list", "--json")
            #expect(list.exitCode == 74 && list.lines.count == 2)
            #expect(list.errors.contains(id))
        }
    }

    @Test("W01: without --base the projects lie in the account's vault, and need no server")
    func vault() async throws {
        try await withTemporaryFolder { folder in
            let account = try Account(in: folder, url: "http://127.0.0.1:9/", user: "ada", password: "x")
            #expect(try await account.larder("project", "list").exitCode == 0)
            #expect(!Files.exists(account.vault))
            let created = try await account.larder("project", "create")
            #expect(created.exitCode == 0, "\(created.errors)")
            let id = try #require(created.lines.first)
            #expect(Files.isFolder("\(account.vault)/projects/\(id)/assets"))
            let shown = try await account.larder("--json", "project", "show", id)
            #expect(try ProjectObject(line: #require(shown.lines.first)).assets.hasPrefix("\(account.vault)/projects/"))
            // The host then makes the vault around the existing project.
            #expect(try await account.larder("pin", "/").exitCode == 0)
            #expect(try await account.larder("project", "show", id).exitCode == 0)
        }
    }

    @Test("W07 W11: --move moves the assets; a vault, a tree, what holds one and another file system are refused")
    func moving() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            let id = try await projects.must("create")
            try Files.write("picture", to: "\(folder)/assets/picture")
            let step = try await projects.must("add-step", id, "--assets", "\(folder)/assets/", "--move")
            #expect(!Files.exists("\(folder)/assets"))
            let assets = try StepObject(line: await projects.must("step", id, step, "--json")).assets
            #expect(try Files.names(in: assets) == ["picture"])

            let account = try Account(
                in: folder, url: "http://127.0.0.1:9/", user: "ada", password: "x", files: "\(folder)/outer/cloud")
            #expect(try await account.larder("pin", "/").exitCode == 0)
            try Files.write("mine", to: "\(folder)/outer/cloud/photos/mine")
            for words in [["--move"], []] {
                for source in ["outer/cloud", "outer/cloud/photos", "outer", "vault", "vault/incoming"] {
                    let result = try await projects.larder.run(
                        ["project", "add-step", id, "--assets", "\(folder)/\(source)", "--base", projects.base] + words)
                    #expect(result.exitCode == 65, "\(source): \(result.summary)")
                    #expect(result.errors.contains("Larder's"), "\(source): \(result.errors)")
                }
            }
            #expect(try Files.text("\(folder)/outer/cloud/photos/mine") == "mine")

            let other = "/dev/shm/larder-test-\(id)"
            try Files.write("x", to: "\(other)/x")
            defer { Files.remove(other) }
            let refused = try await projects("add-step", id, "--assets", other, "--move")
            #expect(refused.exitCode == 65 && refused.errors.contains("leave out --move"), "\(refused.errors)")
            #expect(try await projects.project(id).steps == [step])
            _ = try await projects.must("add-step", id, "--assets", other)
            #expect(try Files.text("\(other)/x") == "x")
        }
    }

    @Test("W09: of many steps those near the cursor are drawn, and all when asked for")
    func drawing() async throws {
        try await withTemporaryFolder { folder in
            let projects = ProjectFolder(in: folder)
            let id = try await projects.must("create")
            for _ in 0..<30 { _ = try await projects.must("add-step", id) }
            _ = try await projects.must("update", id, "--cursor", "15")
            let near = try await projects.must("show", id).split(separator: "\n")
            #expect(near.count { $0.contains("●") } == 10 && near.count { $0.contains("○") } == 10)
            #expect(near.contains("    … 5 before") && near.contains("    … 5 after"))
            let all = try await projects.must("show", id, "--steps").split(separator: "\n")
            #expect(all.count { $0.contains("●") } == 15 && all.count { $0.contains("○") } == 15)
        }
    }
}
