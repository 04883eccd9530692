import LocalTree
import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

@Suite struct ChangeTests {
    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    @Test("S7: changes are accepted without a network, show at once, and are made in order when it is back")
    func offline() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/one")
            fixture.engine.setOnline(false)
            try await fixture.change(.createFolder(path("/new")))
            try await fixture.change(.move(path("/d/one"), to: path("/new/uno")))
            try await fixture.put("mine", "/new/mine")
            try await fixture.change(.copy(path("/new"), to: path("/again")))
            try await fixture.change(.delete(path("/d")))
            let shown = ["/again", "/again/mine", "/again/uno", "/new", "/new/mine", "/new/uno"]
            #expect(try await fixture.listed() == shown)
            let outcome = try await fixture.drain()
            #expect(outcome.isOffline && outcome.leftCount == 5)
            #expect(fixture.source.changing.requests.isEmpty)

            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            let requests = fixture.source.changing.requests
            #expect(
                Set(requests) == [
                    "MKCOL /new", "MOVE /d/one /new/uno", "PUT /new/mine", "COPY /new /again", "DELETE /d",
                ])
            func turn(_ request: String) -> Int { requests.firstIndex(of: request) ?? -1 }
            #expect(turn("MKCOL /new") < turn("MOVE /d/one /new/uno"))
            #expect(turn("MOVE /d/one /new/uno") < turn("DELETE /d"))
            #expect(turn("PUT /new/mine") < turn("COPY /new /again"))
            #expect(try await fixture.listed() == shown)
        }
    }

    @Test("S5: a file that is moved out of a folder, which is then deleted, survives")
    func moveThenDelete() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            let file = try await fixture.addFile("/d/f")
            try await fixture.change(.move(path("/d/f"), to: path("/f")))
            try await fixture.change(.delete(path("/d")))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["MOVE /d/f /f", "DELETE /d"])
            #expect(fixture.source[try path("/f")] != nil)
            #expect(try await fixture.now(file).path == path("/f"))
        }
    }

    @Test("S3 S20: what cannot be done is refused before anything is written, and says why")
    func refused() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFolder("/d/e")
            try await fixture.addFile("/f")
            let before = try await fixture.listed()
            let cases: [(ChangeRequest, Failure.Kind)] = [
                (.move(try path("/d"), to: try path("/d/e/d")), .badData),
                (.copy(try path("/d"), to: try path("/d/copy")), .badData),
                (.move(try path("/f"), to: try path("/f")), .badData),
                (.move(try path("/f"), to: try path("/d")), .cannotCreate),
                (.copy(try path("/d"), to: try path("/f")), .cannotCreate),
                (.move(try path("/f"), to: try path("/no/f")), .notFound),
                (.move(try path("/f"), to: try path("/f/g")), .badData),
                (.copy(try path("/d"), to: try path("/f/g")), .badData),
                (.move(.root, to: try path("/r")), .badData),
                (.delete(.root), .badData),
                (.delete(try path("/no")), .notFound),
                (.createFolder(try path("/d")), .cannotCreate),
                (.createFolder(.root), .cannotCreate),
                (.createFolder(try path("/no/new")), .notFound),
                (.createFolder(try path("/.larder")), .badData),
                (.setFavorite(try path("/no"), true), .notFound),
            ]
            for (change, kind) in cases {
                guard case .refused(let failure) = try await fixture.change(change) else {
                    Issue.record("\(change) was not refused")
                    continue
                }
                #expect(failure.kind == kind, "\(change): \(failure.message)")
            }
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.listed() == before)
        }
    }

    @Test("what the account may not do is refused before the server is asked")
    func rights() async throws {
        try await EngineFixture.with { fixture in
            var folder = try await fixture.addFolder("/d")
            folder.permissions = "SG"
            let changed = folder
            try await fixture.database.write { tx in _ = try tx.items.update(changed) }
            for change in [
                ChangeRequest.delete(try path("/d")), .move(try path("/d"), to: try path("/e")),
                .createFolder(try path("/d/new")),
            ] {
                guard case .refused(let failure) = try await fixture.change(change) else {
                    Issue.record("\(change) was not refused")
                    continue
                }
                #expect(failure.kind == .denied, "\(failure.message)")
            }
        }
    }

    @Test("S18: what came or changed since a deletion was requested keeps the folder, until a person says so")
    func deletionOfNews() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/f")
            try await fixture.change(.delete(path("/d")))
            fixture.source[try path("/d/new")] = .init(bytes: [1], version: ETag(opaque: "n", strength: .strong))
            var outcome = try await fixture.drain()
            #expect(outcome.left.count == 1 && fixture.source.changing.requests.isEmpty)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "delete.changed" && issue.message.contains("/d/new"))
            #expect(issue.choices.map(\.id) == ["cancel", "force"])
            #expect(issue.choices.map(\.impact) == [.nonDestructive, .dataLoss])
            _ = try await fixture.engine.resolve(issue.id, choice: "force")
            outcome = try await fixture.drain()
            #expect(outcome.leftCount == 0 && fixture.source.paths.isEmpty)
            #expect(try await fixture.listed().isEmpty)
        }
    }

    @Test(
        "S18: what a listing does not show is news: calendars, what is left out, names that cannot be kept",
        arguments: ["calendar", "left out", "bad name", "calendar below", "now a calendar", "now one below"])
    func deletionOfUnlisted(_ kind: String) async throws {
        try await EngineFixture.with { fixture in
            for folder in ["/d", "/d/e"] { try await fixture.addFolder(folder) }
            let file = try await fixture.addFile("/d/e/f")
            let (source, e) = (fixture.source, try path("/d/e"))
            let new = try path(kind == "calendar below" ? "/d/e/cal" : "/d/cal")
            source.changing.state.withLock { state in
                switch kind {
                case "left out": state.leftOut = [new]
                case "bad name":
                    state.refused = [e: UnusableEntry(href: "/d/e/a%2Fb", problem: .slashInName)]
                    return
                case "now a calendar": state.calendars = [ItemPath(unchecked: "/d")]
                case "now one below": state.calendars = [e]
                default: state.calendars = [new]
                }
                if !kind.hasPrefix("now") { state.folders.insert(new) }
            }
            try await fixture.change(.delete(path("/d")))
            _ = try await fixture.drain()
            #expect(source.changing.requests.isEmpty && source[file.path] != nil)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "delete.changed" && issue.message.hasPrefix("/d was not deleted"))
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            #expect(try await fixture.listed() == ["/d", "/d/e", "/d/e/f"])
        }
    }

    @Test(
        "S18: where names with a dot are not listed a folder goes only if a person says so; a file goes at once",
        arguments: [true, false])
    func hiddenNames(byPlugin: Bool) async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/f")
            let hidden = try path("/d/.hidden")
            fixture.source.changing.state.withLock { ($0.hidesDotNames, $0.name) = (true, "nginx/1.22.1") }
            let requester = byPlugin ? ChangeRequester(DownloadTrigger("org.example.archive"), key: "1") : .user
            func delete(_ path: ItemPath) async throws {
                _ = try await fixture.database.write { [engine = fixture.engine] tx in
                    try engine.enqueue(.change(.delete(path), for: requester), in: tx)
                }
                _ = try await fixture.drain()
            }
            try await delete(path("/d/f"))
            #expect(fixture.source.changing.requests == ["DELETE /d/f"])
            fixture.source[hidden] = .init(bytes: [1], version: ETag(opaque: "h", strength: .strong))
            try await delete(path("/d"))
            #expect(fixture.source[hidden] != nil && fixture.source.changing.requests.count == 1)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.choices.map(\.id) == ["cancel", "force"] && issue.message.contains("begin with a dot"))
            _ = try await fixture.engine.resolve(issue.id, choice: "force")
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.listed().isEmpty && fixture.source.paths.isEmpty)
        }
    }

    @Test("S18: a calendar is no folder that somebody else has made")
    func folderWhereCalendarIs() async throws {
        try await EngineFixture.with { fixture in
            let cal = try path("/cal")
            fixture.source.changing.state.withLock { ($0.calendars, $0.folders) = ([cal], [.root, cal]) }
            try await fixture.change(.createFolder(cal))
            _ = try await fixture.drain()
            #expect(try await fixture.issues().map(\.code) == ["change.refused"])
        }
    }

    @Test("S18: a deletion knows what it was about after a folder above it was moved, before the deletion's turn")
    func deleteThenMoveAbove() async throws {
        try await EngineFixture.with { fixture in
            for folder in ["/a", "/a/b", "/a/b/c"] { try await fixture.addFolder(folder) }
            for file in ["/a/b/f", "/a/b/c/g"] { try await fixture.addFile(file) }
            fixture.engine.setOnline(false)
            try await fixture.change(.delete(path("/a/b")))
            try await fixture.change(.move(path("/a"), to: path("/d")))
            try await fixture.change(.move(path("/d"), to: path("/e")))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["DELETE /a/b", "MOVE /a /d", "MOVE /d /e"])
            #expect(try await fixture.issues().isEmpty && fixture.source.paths.isEmpty)
        }
    }

    @Test("S18: what was queued behind a deletion, to its place and away again, is no news to it")
    func ownChangesBehind() async throws {
        for what in ["mv", "put", "mkdir"] {
            try await EngineFixture.with { fixture in
                for folder in ["/c", "/c/s"] { try await fixture.addFolder(folder) }
                for file in ["/c/1", "/c/s/2", "/r"] { try await fixture.addFile(file) }
                fixture.engine.setOnline(false)
                try await fixture.change(.delete(path("/c")))
                switch what {
                case "mv": try await fixture.change(.move(path("/r"), to: path("/c")))
                case "put": try await fixture.put("mine", "/c")
                default:
                    try await fixture.change(.createFolder(path("/c")))
                    try await fixture.put("mine", "/c/1")
                    try await fixture.change(.move(path("/r"), to: path("/c/r")))
                }
                try await fixture.change(.move(path("/c"), to: path("/q")))
                fixture.engine.setOnline(true)
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try await fixture.issues().isEmpty, "\(what)")
                let expected = ["mv": ["/q"], "put": ["/q", "/r"], "mkdir": ["/q/1", "/q/r"]][what]
                #expect(fixture.source.paths.map(\.text) == expected, "\(what)")
            }
        }
    }

    @Test("S18: what is gone already is as good as deleted")
    func deletionOfNothing() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source[file.path] = nil
            try await fixture.change(.delete(file.path))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.listed().isEmpty)
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("a file that changed on the server since its deletion was requested is not deleted")
    func deletionOfChanged() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.change(.delete(file.path))
            try await fixture.change(file, "other", version: "v2", isListed: false)
            _ = try await fixture.drain()
            #expect(fixture.source[file.path] != nil)
            let issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            #expect(try await fixture.listed() == ["/f"])
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test(
        "S18: another version of the same size is news to a deletion, of the file as of its folder",
        arguments: ["/d", "/d/f"])
    func deletionOfSameSize(_ target: String) async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            let file = try await fixture.addFile("/d/f", "mine")
            try await fixture.change(.delete(path(target)))
            try await fixture.change(file, "hers", version: "v2", isListed: false)
            _ = try await fixture.drain()
            #expect(fixture.source.changing.requests.isEmpty && fixture.source[file.path] != nil)
            let issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "delete.changed" && issue.message.contains("/d/f"))
        }
    }

    @Test("S19: a deletion that is taken back brings back the item and all below it, with what they were")
    func deletionTakenBack() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            var items = try await fixture.addFiles(20) { ("/d/f\($0)", "content") }
            items[3].isFavorite = true
            let favorite = items[3]
            try await fixture.database.write { tx in _ = try tx.items.update(favorite) }
            try await fixture.ask(.download, items[5])
            _ = try await fixture.drain()
            fixture.engine.setOnline(false)
            let (listed, copy) = (try await fixture.listed(), try await fixture.now(items[5]))
            guard case .queued(let record) = try await fixture.change(.delete(path("/d"))) else { return }
            #expect(try await fixture.listed().isEmpty)
            // Vacuum may not take the copy before the server has answered.
            try await fixture.ask(.purge, items[5])
            _ = try await fixture.drain()
            #expect(try fixture.text("/d/f5") == "content")
            try await fixture.engine.cancel(record)
            #expect(try await fixture.listed() == listed)
            #expect(try await fixture.now(favorite).isFavorite)
            var back = try await fixture.now(items[5])
            back.anchor = copy.anchor
            #expect(back == copy)
            #expect(try await fixture.now(try await fixture.item("/d")).syncActivity.isEmpty)
        }
    }

    @Test("a move that is taken back puts the item and its copy back")
    func moveTakenBack() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            let file = try await fixture.addFile("/d/f")
            try await fixture.ask(.download, file)
            _ = try await fixture.drain()
            fixture.engine.setOnline(false)
            guard case .queued(let first) = try await fixture.change(.move(path("/d"), to: path("/e"))),
                case .queued(let second) = try await fixture.change(.createFolder(path("/e/new")))
            else { return }
            try await fixture.mover.carryOut()
            #expect(try fixture.text("/e/f") == "content")
            try await fixture.engine.cancel(second)
            try await fixture.engine.cancel(first)
            try await fixture.mover.carryOut()
            #expect(try await fixture.listed() == ["/d", "/d/f"])
            #expect(try fixture.text("/d/f") == "content" && fixture.text("/e/f") == nil)
            #expect(try await fixture.now(file).cloudStatus == .localCopy)
        }
    }

    @Test("a move whose answer was lost is found to be made, and is not asked for again")
    func moveWithLostAnswer() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.then(.loseAnswer)
            try await fixture.change(.move(file.path, to: path("/g")))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["MOVE /f /g"])
            #expect(try await fixture.listed() == ["/g"])
        }
    }

    @Test("S36: what waits is made where it was moved to, and a deletion of it leaves nothing of it")
    func movedUnsent() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/there")
            fixture.engine.setOnline(false)
            try await fixture.put("one", "/a")
            try await fixture.change(.move(try path("/a"), to: try path("/there/b")))
            try await fixture.change(.createFolder(try path("/D")))
            try await fixture.put("two", "/D/x")
            try await fixture.change(.move(try path("/D"), to: try path("/E")))
            try await fixture.put("three", "/E/y")
            try await fixture.change(.createFolder(try path("/F")))
            try await fixture.put("four", "/F/z")
            try await fixture.change(.move(try path("/F/z"), to: try path("/E/z")))
            try await fixture.change(.move(try path("/F"), to: try path("/G")))
            try await fixture.change(.delete(try path("/G")))
            #expect(try await fixture.listed() == ["/E", "/E/x", "/E/y", "/E/z", "/there", "/there/b"])
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(
                fixture.source.changing.requests.sorted() == [
                    "MKCOL /E", "PUT /E/x", "PUT /E/y", "PUT /E/z", "PUT /there/b",
                ])
            #expect(try fixture.text("/E/z") == "four" && fixture.outgoing().isEmpty)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test("S36: what waits keeps its place before what was requested since, where that matters")
    func movedBehind() async throws {
        try await EngineFixture.with { fixture in
            let old = try await fixture.addFile("/b", "old")
            fixture.engine.setOnline(false)
            try await fixture.put("one", "/a")
            // The file goes into a folder, and to a path, that are free only later.
            try await fixture.put("two", "/c")
            try await fixture.change(.createFolder(try path("/N")))
            try await fixture.change(.move(try path("/a"), to: try path("/N/a")))
            try await fixture.change(.delete(old.path))
            try await fixture.change(.move(try path("/c"), to: old.path))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.paths.map(\.text) == ["/N/a", "/b"])
            #expect(try fixture.text("/b") == "two" && fixture.text("/N/a") == "one")
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S36: what a copy of its folder takes along is made before, whatever becomes of it then")
    func copiedAbove() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFolder("/p")
            fixture.engine.setOnline(false)
            try await fixture.put("one", "/d/f")
            try await fixture.put("two", "/d/g")
            try await fixture.put("three", "/a")
            try await fixture.change(.copy(try path("/d"), to: try path("/e")))
            try await fixture.change(.copy(try path("/p"), to: try path("/p2")))
            try await fixture.change(.delete(try path("/d/f")))
            try await fixture.change(.move(try path("/d/g"), to: try path("/g")))
            try await fixture.change(.move(try path("/a"), to: try path("/p/a")))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.paths.map(\.text) == ["/e/f", "/e/g", "/g", "/p/a"])
            #expect(try await fixture.issues().isEmpty)
        }
    }

    @Test("S18 S51: a cancelled deletion has its folder listed again, beside what was made in its place since")
    func cancelledDeletion() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/f")
            fixture.engine.setOnline(false)
            try await fixture.change(.delete(try path("/d")))
            try await fixture.change(.createFolder(try path("/d")))
            try await fixture.change(.move(try path("/d"), to: try path("/x")))
            let id = try #require(try await fixture.records().first?.id)
            try await fixture.engine.cancel(id)
            #expect(try await fixture.listed() == ["/d", "/d/f", "/x"])
            let jobs = try await fixture.database.read { try $0.scan.jobs() }
            #expect(jobs.contains { $0.path.isRoot })
        }
    }

    @Test("S36: what was to be made and is deleted before that leaves nothing")
    func createThenDelete() async throws {
        try await EngineFixture.with { fixture in
            fixture.engine.setOnline(false)
            try await fixture.change(.createFolder(path("/new")))
            try await fixture.put("mine", "/mine")
            try await fixture.change(.delete(path("/new")))
            try await fixture.change(.delete(path("/mine")))
            await fixture.engine.removeSpentSnapshots()
            #expect(try await fixture.records().isEmpty)
            #expect(try await fixture.listed().isEmpty)
            #expect(try fixture.outgoing().isEmpty)
        }
    }

    @Test("a folder that somebody else has made meanwhile is as good as the folder that was to be made")
    func folderMadeByOthers() async throws {
        try await EngineFixture.with { fixture in
            try await fixture.change(.createFolder(path("/new")))
            fixture.source.changing.addFolder(try path("/new"))
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.issues().isEmpty)
            #expect(try await fixture.listed() == ["/new"])
        }
    }

    @Test("S10: a folder whose making was not answered is looked for before it is made again")
    func unansweredFolder() async throws {
        try await EngineFixture.with { fixture in
            fixture.source.changing.then(.loseAnswer)
            try await fixture.change(.createFolder(path("/new")))
            _ = try await fixture.drain()
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["MKCOL /new"])
            #expect(try await fixture.listed() == ["/new"])
        }
    }

    @Test("a refused change waits for a person, who tries it again or takes it back")
    func refusedByServer() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.then(.refuse(.forbidden), .refuse(.forbidden))
            try await fixture.change(.move(file.path, to: path("/g")))
            _ = try await fixture.drain()
            var issue = try #require(try await fixture.issues().first)
            #expect(issue.code == "change.refused" && issue.failure == .denied)
            _ = try await fixture.engine.resolve(issue.id, choice: "retry")
            _ = try await fixture.drain()
            issue = try #require(try await fixture.issues().first)
            _ = try await fixture.engine.resolve(issue.id, choice: "cancel")
            #expect(try await fixture.listed() == ["/f"])
            #expect(try await fixture.records().isEmpty)
        }
    }

    @Test("a change of what is locked waits, names who has locked it, and is made when the lock is gone")
    func locked() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.source.changing.then(.refuse(.locked(owner: "bob")))
            try await fixture.change(.move(file.path, to: path("/g")))
            let outcome = try await fixture.drain()
            #expect(outcome.left.first?.why.contains("bob") == true)
            #expect(try await fixture.issues().isEmpty)
            fixture.clock.advance(ChangeDelay.locked)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(try await fixture.listed() == ["/g"])
        }
    }

    @Test("a download that was queued before a move fetches the file from where the server has it")
    func downloadBeforeMove() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            try await fixture.ask(.download, file)
            try await fixture.change(.move(file.path, to: path("/g")))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.requests.map(\.path) == [file.path])
            #expect(try fixture.text("/g") == "content")
        }
    }

    @Test("favorites follow, and two opposite changes are none")
    func favorites() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            fixture.engine.setOnline(false)
            try await fixture.change(.setFavorite(file.path, true))
            #expect(try await fixture.now(file).isFavorite)
            try await fixture.change(.setFavorite(file.path, false))
            #expect(try await !fixture.now(file).isFavorite)
            #expect(try await fixture.records().isEmpty)
            try await fixture.change(.setFavorite(file.path, true))
            fixture.engine.setOnline(true)
            #expect(try await fixture.drain().leftCount == 0)
            #expect(fixture.source.changing.requests == ["PROPPATCH /f true"])
            #expect(try await fixture.now(file).syncActivity.isEmpty)
        }
    }

    @Test("S2: a record's action, places and states are what they were after a restart")
    func restart() async throws {
        try await EngineFixture.with { fixture in
            let file = try await fixture.addFile("/f")
            try await fixture.addFolder("/d")
            fixture.engine.setOnline(false)
            try await fixture.change(.createFolder(path("/new")))
            try await fixture.change(.move(file.path, to: path("/new/f \u{301}%")))
            try await fixture.put("mine", "/new/mine")
            try await fixture.change(.copy(path("/d"), to: path("/e")))
            try await fixture.change(.delete(path("/d")))
            let before = try await fixture.records()
            let again = try EngineFixture(reopening: fixture)
            #expect(try await again.records() == before)
            #expect(before.map(\.action.kind) == [.createFolder, .move, .upload, .copy, .delete])
            again.engine.setOnline(true)
            #expect(try await again.drain().leftCount == 0)
            #expect(try await again.listed() == ["/e", "/new", "/new/f \u{301}%", "/new/mine"])
            try again.vault.close()
        }
    }
}
