import DemoServer
import FoundationEssentials
import Glibc
import TestServer
import TestSupport
import Testing

/// The history of policies on the command line.
@Suite(.serialized) struct PolicyHistoryCommandTests {
    /// The JSON object of a change.
    private struct Change: Decodable {
        struct Author: Decodable, Equatable {
            var kind: String
            var name: String?
        }

        struct Policy: Decodable {
            var id: String
            var path: String?
            var `where`: String
        }

        struct Difference: Decodable {
            var policy: String
            var kind: String
            var what: String
            var fields: [String]
            var before: Policy?
            var after: Policy?
        }

        var step: String
        var time: String
        var by: Author
        var quiet: Bool
        var applied: Bool
        var changes: [Difference]

        init(line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
    }

    @discardableResult private func must(_ account: Account, _ arguments: String...) async throws -> ProcessResult {
        let result = try await account.larder.run(arguments)
        #expect(result.exitCode == 0, "\(arguments)\n\(result.summary)")
        return result
    }

    private func history(_ account: Account, _ more: String...) async throws -> [Change] {
        let result = try await account.larder.run(["--json", "policy", "history"] + more)
        #expect(result.exitCode == 0, "\(result.summary)")
        return try result.lines.map(Change.init(line:))
    }

    private func withAccount(_ body: (TestServer, Account) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            try await TestServer.running { server in
                server.tree.put("/Photos/a.jpg", "a")
                server.tree.put("/Music/b.ogg", "b")
                try await body(server, try Account(in: folder, server))
            }
        }
    }

    @Test(
        "An undone pin's copies go with the next run, a redone one's come again; the history says who did what, and when"
    )
    func undo() async throws {
        try await withAccount { _, account in
            let began = Date()
            #expect(try await must(account, "policy", "history").output.isEmpty)
            try await must(account, "pin", "/Photos")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/a.jpg"])
            let undo = try await must(account, "policy", "undo")
            let me = try await mustRun("id", ["-un"]).split(separator: "\n").first.map(String.init) ?? ""
            let line = undo.lines.first ?? ""
            #expect(line.hasPrefix("undone the change that \(me) made at 20"), "\(undo.summary)")
            #expect(line.hasSuffix("Z: added availableOffline /Photos"), "\(undo.summary)")
            let undone = try await must(account, "policy", "history")
            #expect(undone.lines.count >= 2 && undone.lines.contains { $0.hasPrefix("○") }, "\(undone.summary)")
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == [])
            let redo = try await must(account, "--json", "policy", "redo")
            let object = try Change(line: try #require(redo.lines.first))
            #expect(object.applied && object.by == .init(kind: "person", name: me))
            try await must(account, "run", "--once")
            #expect(try account.localFiles() == ["Photos/a.jpg"])

            try await must(
                account, "policy", "add", "--kind", "availableOffline", "--id", "music", "--where",
                #"path.startsWith("/Music/")"#)
            try await must(account, "policy", "update", "music", "--where", "false", "--description", "later")
            try await must(account, "policy", "remove", "music")
            let changes = try await history(account)
            let byHand = changes.filter { $0.by.kind == "person" }
            #expect(byHand.map(\.changes[0].what) == ["removed", "changed", "added", "added"])
            #expect(byHand.allSatisfy { $0.applied && !$0.quiet && $0.by.name == me && $0.changes.count == 1 })
            #expect(byHand[1].changes[0].fields == ["where", "description"])
            #expect(byHand[1].changes[0].before?.where == #"path.startsWith("/Music/")"#)
            #expect(byHand[1].changes[0].after?.where == "false" && byHand[1].changes[0].policy == "music")
            #expect(byHand[0].changes[0].after == nil && byHand[2].changes[0].before == nil)
            #expect(byHand[3].step == object.step && byHand[3].changes[0].after?.path == "/Photos")
            for change in changes {
                let time = try #require(try? Date(String(change.time.prefix(19)) + "Z", strategy: .iso8601))
                #expect(time > began.addingTimeInterval(-2) && time < Date())
            }
            #expect(try await history(account, "--limit", "2").map(\.step) == changes.prefix(2).map(\.step))
            let text = try await must(account, "policy", "history")
            #expect(text.lines[1].hasPrefix("▶") && text.lines[1].hasSuffix(" removed availableOffline music"))
            #expect(text.lines[2].hasSuffix("changed where, description of availableOffline music"))

            try await must(account, "policy", "undo")
            try await must(account, "policy", "undo")
            try await must(account, "policy", "update", "music", "--where", "size > 1")
            let redone = try await account.larder("policy", "redo")
            #expect(redone.exitCode == 65 && redone.errors.contains("there is nothing to redo"), "\(redone.summary)")
        }
    }

    @Test("Undo and redo on a server that is not ours", arguments: [RealServer.Program.rclone])
    func onServer(_ program: RealServer.Program) async throws {
        try await withTemporaryFolder { folder in
            try Files.makeFolder("\(folder)/data")
            try await withServer(program, data: "\(folder)/data", options: Account.withLogin) { server in
                try await server.put("Photos/a.jpg", "a", modified: 1_600_000_000)
                let account = try Account(in: folder, server)
                try await must(account, "pin", "/Photos")
                try await must(account, "run", "--once")
                #expect(try account.localFiles() == ["Photos/a.jpg"])
                try await must(account, "policy", "undo")
                try await must(account, "run", "--once")
                #expect(try account.localFiles() == [])
                try await must(account, "policy", "redo")
                try await must(account, "run", "--once")
                #expect(try account.localFiles() == ["Photos/a.jpg"])
            }
        }
    }

    @Test("Beside a running host the history is read, and the host undoes and redoes")
    func besideHost() async throws {
        try await withAccount { server, account in
            try await must(account, "pin", "/Photos")
            let fault = server.add(Fault(.hold(), method: "PROPFIND"))
            let host = try account.larder.start(["run"])
            await server.untilHeld(fault)
            #expect(try await history(account).count == 1)
            for word in ["undo", "redo"] {
                let result = try await account.larder("policy", word)
                #expect(result.exitCode == 0, "\(result.summary)")
            }
            #expect(try await history(account).count == 1)
            server.remove(fault)
            host.send(SIGTERM)
            #expect(await host.wait(atMost: .seconds(120)) == .code(0))
        }
    }

    @Test(
        "The policies' project is read and copied as others are, changed by no project command, and begun anew once deleted"
    )
    func project() async throws {
        try await withAccount { _, account in
            try await must(account, "pin", "/Photos")
            let listed = try await must(account, "--json", "project", "list")
            let project = try ProjectObject(line: try #require(listed.lines.first))
            #expect(project.bundleID == "org.larder.policies" && project.stepCursor == 1 && listed.lines.count == 1)
            try Files.write("{}", to: "\(account.folder)/data")
            for words in [
                ["update", project.id, "--cursor", "0"], ["update", project.id, "--delete-step", project.steps[0]],
                ["update", project.id, "--user-data", "\(account.folder)/data"], ["undo", project.id],
                ["redo", project.id], ["add-step", project.id],
                ["undo", project.id, "--base", "\(account.vault)/projects"],
            ] {
                let result = try await account.larder.run(["project"] + words)
                #expect(
                    result.exitCode == 65 && result.errors.contains("larder policy undo"), "\(words) \(result.summary)")
            }
            try await must(account, "project", "show", project.id)
            try await must(account, "project", "step", project.id, project.steps[0])
            try await must(account, "project", "size", project.id)
            let copy = try await must(account, "project", "duplicate", project.id).lines[0]
            #expect(try await history(account).map(\.step) == project.steps)
            try await must(account, "project", "delete", copy)
            try await must(account, "project", "delete", project.id)
            #expect(try await history(account).isEmpty)
            #expect(try await account.larder("policy", "undo").exitCode == 65)
            try await must(account, "pin", "/Music")
            #expect(try await history(account).map(\.changes[0].after?.path) == ["/Music"])
        }
    }

    /// The system calls that write data to the disk.
    // strace counts the calls of each thread for itself. Only the thread that writes the history removes folders.
    private static let calls = ["fdatasync", "fsync", "pwrite64", "mkdir", "renameat2", "rmdir"]

    @Test(
        "Killed at any write to the disk while a policy is added or that is undone, the next start has each change once",
        .enabled(if: access("/usr/bin/strace", X_OK) == 0, "killing at a system call needs strace"),
        arguments: calls)
    func killed(_ call: String) async throws {
        try await withAccount { _, account in
            try await must(account, "run", "--once")
            try await must(account, "policy", "add", "--kind", "k", "--where", "false", "--id", "first")
            var (kills, waiting, number) = (0, 0, 0)
            for isUndo in [false, true] {
                for moment in stride(from: 1, to: 60, by: call == "pwrite64" ? 3 : 1) {
                    number += 1
                    let before = try await policies(account)
                    var words = ["policy", "add", "--kind", "k", "--where", "false", "--id", "p\(number)"]
                    if isUndo { words = ["policy", "undo"] }
                    var killed = account.larder
                    killed.wrapper = [
                        "strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
                        "inject=\(call):signal=SIGKILL:when=\(moment)",
                    ]
                    let result = try await killed.run(words)
                    let after = try await policies(account)
                    let note = "\(words) killed at \(call) \(moment): \(result.summary)"
                    if result.exitCode == 0 {
                        #expect(after.count == before.count + (isUndo ? -1 : 1), "\(note)")
                    } else {
                        kills += 1
                        let pending = try await account.larder("policy", "history")
                        #expect(pending.exitCode == 0, "\(note)\n\(pending.summary)")
                        if pending.errors.contains("not in the history yet") { waiting += 1 }
                        try await must(account, "run", "--once")
                    }
                    #expect(try await policies(account) == after, "\(note)")
                    try await expectHistory(account, of: after, note)
                    if isUndo, after.count < before.count {
                        try await must(account, "policy", "redo")
                        try await expectHistory(account, of: before, note)
                    }
                    // If the command was not killed, it has no further calls of this type.
                    if result.exitCode == 0 { break }
                }
            }
            print("killed at \(call): \(kills) times, \(waiting) of them between a change and its step")
            #expect(kills > 1)
            // The moments are before the step is made, while it is made, and when it is in place but its row still
            // exists.
            if ["fsync", "mkdir", "rmdir"].contains(call) { #expect(waiting > 0) }
        }
    }

    private func policies(_ account: Account) async throws -> Set<String> {
        let lines = try await must(account, "--json", "policy", "list").lines
        return Set(lines.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) })
    }

    /// Expects that each policy was added by one applied step, and that no other step is applied.
    private func expectHistory(_ account: Account, of policies: Set<String>, _ note: String) async throws {
        let changes = try await history(account)
        #expect(changes.allSatisfy { $0.changes.map(\.what) == ["added"] }, "\(note)")
        #expect(changes.filter(\.applied).map { $0.changes[0].policy }.sorted() == policies.sorted(), "\(note)")
        #expect(Set(changes.map { $0.changes[0].policy }).count == changes.count, "\(note)")
    }
}
