import GRDB
import Model
import TestSupport
import Testing

@testable import Database

@Suite struct ReadSessionTests {
    @Test("A session sees the state at its opening, whatever is written meanwhile, with several cursors open")
    func snapshot() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in for n in 0..<10 { try tx.items.insert(fileItem("/\(n)")) } }
            let session = try ReadSession(database)
            let one = try session.items(.all, from: "items ORDER BY items.path")
            #expect(try one.next())
            try database.writeBlocking { tx in
                try tx.items.insert(fileItem("/new"))
                try tx.db.execute(sql: "DELETE FROM items WHERE path = '/5'")
            }
            let two = try session.items(.all, from: "items WHERE items.path >= ?", [.text("/5")])
            var seen = 0
            while try two.next() { seen += 1 }
            #expect(seen == 5)
            #expect(one.item.path.text == "/0")
            while try one.next() { seen += 1 }
            #expect(seen == 14)
            session.close()
            #expect(throws: Failure.self) { try session.items(.all, from: "items") }
            let later = try ReadSession(database)
            let all = try later.items([], from: "items")
            seen = 0
            while try all.next() { seen += 1 }
            #expect(seen == 10)
        }
    }

    @Test("H6: A session that leaves a long log sees the same rows in the same order, and the log begins anew")
    func leavesLog() throws {
        try withTemporaryFolder { folder in
            // The copy's path becomes a part of a URI.
            let folder = folder + "/100% #1?"
            try Files.makeFolder(folder)
            let database = try Database.open(path: "\(folder)/larder.db")
            let names = (0..<100).map { "/\(100 + $0)" }
            try database.writeBlocking { tx in
                for name in names.shuffled() { try tx.items.insert(fileItem(name)) }
            }
            let session = try ReadSession(database)
            let order = { (session: ReadSession) throws -> [String] in
                let cursor = try session.items(.all, from: "items", isInPathOrder: true)
                var paths: [String] = []
                while try cursor.next() { paths.append(cursor.item.path.text) }
                return paths
            }
            // Without the move, each transaction of a megabyte would make the log as much longer.
            let grow = {
                for round in 0..<40 {
                    try database.writeBlocking { tx in
                        try tx.db.execute(sql: "UPDATE items SET owner = ?", arguments: ["\(round)"])
                        let value = [UInt8](repeating: 0, count: 1 << 20)
                        try tx.plugins.setValue(of: PluginID("org.example.large"), key: [1], value)
                    }
                }
            }
            #expect(try !session.leaveLog(longerThan: database.logSize))
            try grow()
            #expect(database.logSize > 40 << 20)
            #expect(try session.leaveLog())
            #expect(try !session.leaveLog())
            for _ in 0..<2 { try grow() }
            #expect(database.logSize < 20 << 20)
            try database.writeBlocking { try $0.db.execute(sql: "DELETE FROM items WHERE path < '/150'") }
            #expect(try order(session) == names)
            #expect(Set(try Files.names(in: folder)) == ["larder.db", "larder.db-shm", "larder.db-wal"])
            session.close()
            #expect(try order(try ReadSession(database)) == Array(names.dropFirst(50)))
            try database.close()
        }
    }

    @Test("A session whose state cannot be copied reads on from the log")
    func stays() throws {
        try withDatabase { database in
            _ = try database.writeBlocking { tx in try tx.items.insert(fileItem("/a")) }
            let session = try ReadSession(database)
            try Files.makeFolder(ReadSession.pathOfCopy(beside: database.path))
            let failure = #expect(throws: Failure.self) { try session.leaveLog(longerThan: 0) }
            #expect(failure?.kind == .localIO)
            try database.writeBlocking { tx in try tx.db.execute(sql: "DELETE FROM items") }
            #expect(try session.items(.all, from: "items").next())
        }
    }

    @Test("What a killed process has left of a copy goes when the database is opened to be written")
    func leftover() throws {
        try withTemporaryFolder { folder in
            let path = "\(folder)/larder.db"
            try Database.open(path: path).close()
            try Files.write("half a copy", to: ReadSession.pathOfCopy(beside: path))
            try Database.open(path: path, readOnly: true).close()
            #expect(Files.exists(ReadSession.pathOfCopy(beside: path)))
            try Database.open(path: path).close()
            #expect(!Files.exists(ReadSession.pathOfCopy(beside: path)))
        }
    }

    @Test("A column that was left out is null, one that was asked for is in its place")
    func masks() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                var item = fileItem("/a")
                item.size = 12
                item.mimeType = ""
                try tx.items.insert(item)
            }
            let session = try ReadSession(database)
            let cursor = try session.items([ItemColumns(.size), ItemColumns(.mimeType)], from: "items")
            #expect(try cursor.next())
            #expect(cursor.integer(.size) == 12)
            #expect(cursor.text(.mimeType)?.count == 0)
            #expect(!cursor.isNull(.mimeType))
            #expect(cursor.isNull(.path) && cursor.text(.path) == nil && cursor.integer(.databaseID) == 0)
            #expect(try !cursor.next())
        }
    }

    @Test("A session reads only, and SQL that is none is an error of ours")
    func refusals() throws {
        try withDatabase { database in
            let session = try ReadSession(database)
            let failure = #expect(throws: Failure.self) { try session.items(.all, from: "items WHERE nonsense(") }
            #expect(failure?.kind == .internal)
            #expect(throws: Failure.self) { try session.items(.all, from: "items WHERE \"quoted\" = 1") }
        }
    }
}
