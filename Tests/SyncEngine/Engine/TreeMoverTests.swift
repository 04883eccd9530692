import Logging
import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import SyncEngine

/// Moves of the tree that get into each other's way.
struct TreeMoverTests {
    @Test("What a person has in a folder that made way for another item is in the tree again, not left in `incoming/`")
    func folderThatMadeWay() async throws {
        try await Rig.with { rig in
            // The server has put the folder /b at /c, and the file /a in its place. At /c lies a folder of a person's.
            let file = try await rig.addFile("/b", "from a")
            let folder = try await rig.addFolder("/c")
            try rig.write("from a", to: "/a")
            try rig.write("mine", to: "/b/mine")
            try rig.write("mine too", to: "/c/other")
            try await rig.database.write { tx in
                var file = file
                file.cloudStatus = .locallyModified
                try tx.items.updateLocal(file)
                try tx.moves.add(file.localID, from: ItemPath(unchecked: "/a"), to: file.path)
                try tx.moves.add(folder.localID, from: ItemPath(unchecked: "/b"), to: folder.path)
            }
            var logger = Logger(label: "test")
            logger.logLevel = .critical
            let mover = TreeMover(database: rig.database, tree: rig.tree, engine: rig.engine, logger: logger)
            try await mover.carryOut()
            #expect(try rig.text("/b") == "from a" && rig.text("/c/other") == "mine too")
            #expect(try rig.incoming() == [])
            #expect(try rig.text("/b.larder-kept-1/mine") == "mine")
            #expect(try await rig.database.read { try $0.moves.isEmpty })
        }
    }
}
