import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import SyncEngine

/// Where copies lie when something else comes to the place of what is deleted, and the deletion is taken back.
struct CopiesTakenBackTests {
    /// What is queued behind the deletions of `/D` and `/g`.
    enum Queue: CaseIterable {
        case folder, folderWithFile, movedFolder, otherFolder, otherFolderMovedOn, onFile, onFileMovedOn, ownFolder
    }

    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    private func ask(_ queue: Queue, _ fixture: EngineFixture) async throws {
        func move(_ old: String, _ new: String) async throws {
            try await fixture.change(.move(try path(old), to: try path(new)))
        }
        switch queue {
        case .folder: try await fixture.change(.createFolder(try path("/D")))
        case .folderWithFile:
            try await ask(.folder, fixture)
            try await fixture.put("new", "/D/n")
        case .movedFolder:
            try await ask(.folderWithFile, fixture)
            try await move("/D", "/X")
        case .otherFolder: try await move("/E", "/D")
        case .otherFolderMovedOn:
            try await move("/E", "/D")
            try await move("/D", "/X")
        case .onFile: try await move("/E", "/g")
        case .onFileMovedOn:
            try await move("/E", "/g")
            try await move("/g", "/X")
        case .ownFolder:
            try await ask(.folder, fixture)
            try await move("/E/e", "/D/e")
            try await move("/D", "/X")
        }
    }

    @Test(
        "S28 S51: copies of what is deleted stay with it, and those of what comes to its place with that",
        arguments: Queue.allCases, [false, true])
    func copies(_ queue: Queue, isTakenBack: Bool) async throws {
        for followsAtOnce in [false, true] {
            try await EngineFixture.with { fixture in
                for folder in ["/D", "/D/sub", "/E", "/E/sub"] { try await fixture.addFolder(folder) }
                // Each file has its own name as content.
                for file in ["/D/a", "/D/sub/b", "/E/e", "/E/sub/f", "/g"] {
                    let item = try await fixture.addFile(file, String(file.suffix(1)))
                    try await fixture.ask(.download, item)
                }
                _ = try await fixture.drain()
                fixture.engine.setOnline(false)
                try await fixture.change(.delete(try path("/D")))
                try await fixture.change(.delete(try path("/g")))
                try await ask(queue, fixture)
                if followsAtOnce { try await fixture.mover.carryOut() }
                if isTakenBack {
                    for record in try await fixture.records().filter({ $0.action.kind == .delete }) {
                        try await fixture.engine.cancel(record.id)
                    }
                    if followsAtOnce { try await fixture.mover.carryOut() }
                }
                fixture.engine.setOnline(true)
                #expect(try await fixture.drain().leftCount == 0)
                #expect(try await fixture.issues().isEmpty)

                let files = try await fixture.database.read { reads in
                    var found: [Item] = []
                    try reads.items.each(where: "\(ItemSQL.isFile)") {
                        found.append($0)
                        return true
                    }
                    return found
                }
                let moves = try await fixture.database.read { try $0.moves.all() }
                var here: Set<String> = []
                for file in files where file.cloudStatus == .localCopy {
                    // A copy whose place the copy of what is deleted still has waits at its former path.
                    var place = file.path
                    for move in moves.reversed()
                    where file.removedAt == nil && (move.to == place || move.to.isAncestor(of: place)) {
                        place = place.moved(from: move.to, to: move.from)
                    }
                    here.insert(file.path.name)
                    #expect(
                        try fixture.text(place.text) == (file.path.name == "n" ? "new" : file.path.name),
                        "\(file.path) at \(place)")
                }
                #expect(here.isSuperset(of: isTakenBack ? ["a", "b", "e", "f", "g"] : ["e", "f"]), "\(here)")
                #expect(files.allSatisfy { $0.cloudStatus != .localOnly })
                let live = files.filter { $0.removedAt == nil }.map(\.path.text)
                if isTakenBack { #expect(Set(live).isSuperset(of: ["/D/a", "/D/sub/b", "/g"])) }
            }
        }
    }
}
