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
