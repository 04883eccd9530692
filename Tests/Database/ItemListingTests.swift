import Model
import TestSupport
import Testing

@testable import Database

@Suite struct ItemListingTests {
    private let paths = [
        "/", "/Docs", "/Docs/b", "/Docs/a", "/Docs/sub", "/Docs/sub/c", "/docs", "/docs/x", "/a_b", "/a_b/1", "/axb",
        "/axb/1", "/Docs0", "/Docs-1",
    ]

    private func filled(_ body: (AccountDatabase) throws -> Void) throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                for path in paths { try tx.items.insert(fileItem(path)) }
                var gone = fileItem("/Docs/gone")
                gone.removedAt = Timestamp(seconds: 1)
                try tx.items.insert(gone)
            }
            try body(database)
        }
    }

    private func list(_ database: Database, _ listing: ItemListing) throws -> [String] {
        var found: [String] = []
        try database.readBlocking { reads in
            try reads.items.each(listing) { item in
                found.append(item.path.text)
                return true
            }
        }
        return found
    }

    @Test("I8: what is below a folder is that, and not what is below a folder of a similar name")
    func prefixes() throws {
        try filled { (database) throws in
            var listing = ItemListing(folder: ItemPath(unchecked: "/Docs"))
            #expect(try list(database, listing) == ["/Docs/a", "/Docs/b", "/Docs/sub"])
            listing.isRecursive = true
            #expect(try list(database, listing) == ["/Docs/a", "/Docs/b", "/Docs/sub", "/Docs/sub/c"])
            listing.includesRemoved = true
            #expect(try list(database, listing) == ["/Docs/a", "/Docs/b", "/Docs/gone", "/Docs/sub", "/Docs/sub/c"])
            listing = ItemListing(folder: ItemPath(unchecked: "/a_b"))
            listing.isRecursive = true
            #expect(try list(database, listing) == ["/a_b/1"])
            listing = ItemListing(folder: .root)
            #expect(try list(database, listing).count == 6)
            listing.isRecursive = true
            #expect(try list(database, listing).count == paths.count - 1)
        }
    }

    @Test("A listing obeys its condition, order and limit")
    func orderAndLimit() throws {
        try filled { (database) throws in
            var listing = ItemListing(folder: .root)
            listing.isRecursive = true
            listing.condition = (try Condition(parsing: #"name == "1" || name == "a""#), now: Timestamp(seconds: 0))
            listing.sort = .name
            #expect(try list(database, listing) == ["/a_b/1", "/axb/1", "/Docs/a"])
            listing.isDescending = true
            listing.limit = 2
            #expect(try list(database, listing) == ["/Docs/a", "/a_b/1"])
        }
    }

    @Test("Counts tell files that are here and what was changed here apart")
    func counts() throws {
        try withDatabase { database in
            try database.writeBlocking { tx in
                for (index, status) in CloudStatus.allCases.enumerated() {
                    var item = fileItem("/\(index)")
                    item.cloudStatus = status
                    if status != .cloudOnly { item.copy = localCopy("e", inode: 1) }
                    try tx.items.insert(item)
                }
                var folder = folderItem("/folder")
                folder.cloudStatus = .localCopy
                try tx.items.insert(folder)
                try tx.items.insert(folderItem("/"))
            }
            let counts = try database.readBlocking { try $0.items.counts() }
            #expect(counts.items == 5)
            #expect(counts.here.localCopies == 2)
            #expect(counts.here.localBytes == 20)
            #expect(counts.here.locallyChanged == 2)
        }
    }
}
