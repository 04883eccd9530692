import Glibc
import Model
import TestServer
import TestSupport
import Testing
import Warehouse

@testable import Core

/// Tests of `larder.projects/1`, from a plugin in C to the disk.
@Suite("A plugin's projects")
struct ProjectServiceTests {
    @Test("W09: a plugin adds steps and goes back and forth; a new step takes the place of those that were undone")
    func steps() async throws {
        try await withKeeper { keeper async throws in
            #expect(
                try await keeper("create", "fetch").prefix(2) == [
                    "create 0", "fetch 0 0/0 undo 0 redo 0 steps null data ",
                ])
            #expect(try await keeper("undo", "redo") == ["undo -3", "redo -3"])
            #expect(try await keeper("add a", "add b - whole", "add c") == ["add 0", "add 0", "add 0"])
            #expect(try await keeper("undo", "undo", "fetch")[2] == "fetch 0 1/3 undo 1 redo 1 steps there data whole")
            #expect(
                try await keeper("redo", "add d", "fetch 1")[2] == "fetch 0 3/3 undo 1 redo 0 steps there data absent")
            #expect(
                try await keeper("step 0", "step 2", "step 3").filter { $0.hasPrefix("step") } == [
                    "step 0 a", "step 0 d", "step -3",
                ])
            // The call lent the plugin its data, and the data ended with the call. The stored project is on the disk.
            let storage = keeper.storage()
            let id = try #require(ProjectID(try await keeper.project()))
            let found = try storage.fetchProject(id, .all)
            #expect(
                found.stepCursor == 3 && found.userData == Array("whole".utf8) && found.bundleID == "org.example.keeper"
            )
            // A person undoes a step. The plugin finds the step undone.
            try storage.updateProject(id, .stepIDs) { .undo($0) }
            #expect(try await keeper("fetch 0")[0] == "fetch 0 2/3 undo 1 redo 1 steps null data absent")
        }
    }

    @Test("W08 W10: an update changes steps, cursor and data together, and is refused as a whole")
    func updates() async throws {
        try await withKeeper { keeper async throws in
            #expect(
                try await keeper("create", "many abcde", "cursor 5", "delete 1", "data new") == [
                    "create 0", "many 0 5", "cursor 0", "delete 0", "data 0",
                ])
            #expect(try await keeper("fetch")[0] == "fetch 0 0/4 undo 0 redo 1 steps there data new")
            #expect(try await keeper("step 0", "step 1").filter { $0.hasPrefix("step") } == ["step 0 a", "step 0 c"])
            #expect(
                try await keeper("cursor 5", "data ", "fetch").prefix(3) == [
                    "cursor -2", "data 0", "fetch 0 0/4 undo 0 redo 1 steps there data ",
                ])
            // The update succeeds only as long as nobody else has changed the project.
            #expect(try await keeper("fetch", "as-fetched one").last == "as-fetched 0")
            #expect(
                try await keeper("as-fetched two", "fetch").prefix(2) == [
                    "as-fetched -5", "fetch 0 0/4 undo 0 redo 1 steps there data one",
                ])
        }
    }

    @Test("W07 W11: a source of assets is copied and stays, and one in a vault or a folder of local copies is refused")
    func assets() async throws {
        try await withKeeper { keeper async throws in
            try await keeper("create")
            for name in ["good", "bad"] { try Files.write(name, to: "\(keeper.folder)/\(name)/100%.txt") }
            #expect(symlink("/etc/passwd", "\(keeper.folder)/bad/link") == 0)
            #expect(try await keeper("add a \(keeper.folder)/bad", "fetch 0").first == "add -2")
            #expect(try Files.names(in: "\(keeper.folder)/bad") == ["100%.txt", "link"])
            let said = try await keeper("add a \(keeper.folder)/good", "step 0")
            #expect(said.prefix(2) == ["add 0", "step 0 a"] && Files.exists("\(keeper.folder)/good/100%.txt"))
            for mark in ["vault", ".larder/vault"] {
                let tree = "\(keeper.folder)/tree\(mark.utf8.count)"
                try Files.write(String(repeating: "0", count: 32), to: "\(tree)/\(mark)")
                try Files.write("x", to: "\(tree)/photos/x")
                #expect(try await keeper("add a \(tree)/photos").first == "add -2")
                #expect(keeper.log.contains("cannot be used as assets: it lies in \(tree), which is a"))
            }
            let assets = try #require(said.last).dropFirst("assets ".count)
            #expect(try Files.text("\(assets)/100%.txt") == "good")
            // The plugin may use the project's own folder.
            let own = try #require(try await keeper("fetch").last).dropFirst("assets ".count)
            #expect(own.hasPrefix(keeper.base) && Files.isFolder(String(own)))
        }
    }

    @Test("G11: a plugin sees its own projects and no others")
    func own() async throws {
        try await withKeeper { keeper async throws in
            let others = keeper.storage(for: "org.example.other")
            let other = try others.createProject()
            #expect(try await keeper("list") == ["list 0"])
            try await keeper("create", "add a")
            let first = try await keeper.project()
            try await keeper("duplicate")
            let copy = try await keeper.project()
            #expect(
                try await keeper("list", "list 2", "list 3") == [
                    "list 0 \(copy) \(first)", "list 0 \(first) \(copy)", "list 0 \(first) \(copy)",
                ])
            try await keeper("use \(first)", "undo")
            #expect(try await keeper("list 1") == ["list 0 \(first) \(copy)"])
            #expect(
                try await keeper(
                    "use \(other)", "fetch", "step 0", "add a", "data x", "undo", "redo", "duplicate", "remove")
                    == ["fetch -3", "step -3", "add -3", "data -3", "undo -3", "redo -3", "duplicate -3", "remove -3"])
            let untouched = try others.fetchProject(other, .all)
            #expect(untouched.userData == [] && untouched.stepIDs == [])
            #expect(try others.projectIDs().count == 3)
            #expect(
                try await keeper("use \(copy)", "remove", "remove", "list") == [
                    "remove 0", "remove -3", "list 0 \(first)",
                ])
        }
    }

    @Test("G6: what makes no sense is refused with its status, and changes nothing")
    func bad() async throws {
        try await withKeeper { keeper async throws in
            try await keeper("create", "add a")
            let before = try Files.filesBelow(keeper.base)
            #expect(
                try await keeper("bad") == [
                    "no size -2", "order -2", "no size -2", "parts -2", "no id -2", "not UTF-8 -2", "unknown -3",
                    "unknown -3", "unknown -3", "unknown -3", "large -8", "broken -2", "small -2", "relative -2",
                    "nowhere -2", "no steps -2", "stride -2", "many -8", "no ids -2", "cursor -2", "cursor -2",
                ])
            #expect(try Files.filesBelow(keeper.base) == before)
            #expect(keeper.log.contains("refused projects.add_step during didPassTrigger: "))
            #expect(keeper.log.contains("/nowhere/at all cannot be used as assets: it does not exist"))
        }
    }

    @Test("G6 GL3: in start a plugin may read and not write, and from another thread neither")
    func places() async throws {
        try await withKeeper(start: "list\ncreate\nundo\nremove") { keeper async throws in
            #expect(try keeper.said() == ["list 0", "create -12", "undo -12", "remove -12"])
            #expect(keeper.log.contains("refused projects.create: not allowed during start"))
            #expect(try await keeper("elsewhere") == ["elsewhere -11"])
            #expect(keeper.log.contains("refused projects.list: called from a thread"))
        }
        try await AccountFixture.looping(mode: "project in poll 0") { fixture in
            try await fixture.runWell()
            try await fixture.runWell()
            let said = fixture.log.messages.filter { $0.hasPrefix("info: list in") || $0.hasPrefix("info: create in") }
            #expect(
                said
                    == ["list in poll 0", "create in poll -12", "list in process 0", "create in process 0"].map {
                        "info: \($0)"
                    })
            let storage = ProjectStorage(base: fixture.bookmark.vault + "/projects", bundleID: "org.larder.cli")
            #expect(try storage.projectIDs(of: "org.example.looper").count == 1)
        }
    }

    @Test("A project's change is made at once: a call that fails has made it all the same")
    func atOnce() async throws {
        try await withKeeper { keeper async throws in
            #expect(try await keeper("create", "add a", "fail", "add b") == ["create 0", "add 0"])
            #expect(keeper.log.contains("didPassTrigger failed"))
            #expect(try await keeper("fetch 0")[0] == "fetch 0 1/1 undo 1 redo 0 steps null data absent")
        }
    }

    @Test("P54: in a preview a plugin reads its projects, and changes none, nor what interrupted work left")
    func preview() async throws {
        try await withTemporaryFolder { folder in
            try await withKeeper(isReadOnly: true, in: folder) { keeper async throws in
                #expect(try await keeper("list", "create") == ["list 0", "create -6"])
                #expect(!Files.exists(keeper.base))
            }
            var id = ""
            try await withKeeper(in: folder) { keeper async throws in
                try await keeper("create", "add a")
                id = try await keeper.project()
            }
            try Files.write("x", to: "\(folder)/projects/.staging/left")
            let before = try Files.filesBelow("\(folder)/projects")
            try await withKeeper(isReadOnly: true, in: folder) { keeper async throws in
                #expect(
                    try await keeper("list", "use \(id)", "fetch 0").prefix(2) == [
                        "list 0 \(id)", "fetch 0 1/1 undo 1 redo 0 steps null data absent",
                    ])
                #expect(
                    try await keeper("add b", "data x", "undo", "redo", "duplicate", "remove")
                        == ["add -6", "data -6", "undo -6", "redo -6", "duplicate -6", "remove -6"])
                #expect(keeper.log.contains("refused projects.add_step during didPassTrigger: this is a preview"))
            }
            #expect(try Files.filesBelow("\(folder)/projects") == before)
        }
    }
}
