import Connection
import Database
import Model
import TestSupport
import Testing

@testable import ItemList

@Suite("A listing whose entries arrive in one piece")
struct WholeListingTests {
    /// An account, and what its scans found.
    private struct Side {
        var account: ListedAccount
        var seen: [String] = []

        /// Lists the root and two folders of it, and notes the results and the rows.
        mutating func scan(_ listings: [String: [ListedItem]], at names: [String], etag: String) async throws {
            account.beginScan()
            let folders = try ["/d", "/e"].map { try folder($0, id: $0, etag: etag) }
            for (path, entries) in [("/", folders)] + listings.sorted(by: { $0.key < $1.key }) {
                let result = try await account.list(path, etag: etag, entries: entries)
                seen.append("\(path) \(result.changed) \(result.jobs.map(\.path.text).sorted())")
            }
            seen += try await account.database.read { tx in
                try names.compactMap { try tx.items.scanRow(at: ItemPath($0)) }.map {
                    "\($0.path) \($0.fileID?.text ?? "") \($0.kind) \($0.etag?.opaque ?? "") \(String(describing: $0.etag?.strength)) "
                        + "\($0.size ?? -1) \($0.lastModified?.seconds ?? -1) \($0.mimeType ?? "") \($0.isFavorite) "
                        + "\($0.owner ?? "") \($0.permissions ?? "") \($0.listedETag ?? "") \($0.racy) \($0.cloudStatus)"
                }
            }
            seen += account.takeFetchedAgain().map { _ in "fetched again" } + (try await account.moves()).sorted()
            seen.append("\(try await account.database.read { try $0.items.knownCount() })")
        }
    }

    @Test("it becomes the same rows as one that arrives entry by entry, whatever changed in between")
    func pieces() async throws {
        var random = SeededGenerator()
        for _ in 0..<SeededGenerator.rounds(usually: 8) { try await course(&random) }
    }

    private func course(_ random: inout SeededGenerator) async throws {
        try await withTemporaryFolder { one in
            try await withTemporaryFolder { other in
                var (whole, parted) = (Side(account: try ListedAccount(one)), Side(account: try ListedAccount(other)))
                parted.account.listsWhole = false
                let names = ["/d", "/e"].flatMap { folder in ["A", "a", "b", "b c", "ä", "z"].map { "\(folder)/\($0)" }
                }
                var listings: [String: [ListedItem]] = ["/d": [], "/e": []]
                for name in names where Bool.random(using: &random) {
                    listings[String(name.prefix(2))]?.append(try file(name, id: "i\(name)", etag: "1"))
                }
                for round in 0..<20 {
                    try await whole.scan(listings, at: names, etag: "\(round)")
                    try await parted.scan(listings, at: names, etag: "\(round)")
                    try #require(whole.seen == parted.seen, "LARDER_TEST_SEED=\(random.seed)")
                    if round % 4 == 1, let entry = listings["/d"]?.first(where: { $0.kind == .file }) {
                        try await whole.account.giveCopy(entry.path.text)
                        try await parted.account.giveCopy(entry.path.text)
                    }
                    try Self.change(&listings, names, &random)
                }
                try whole.account.database.close()
                try parted.account.database.close()
            }
        }
    }

    /// Changes up to three entries, each in one way.
    private static func change(
        _ listings: inout [String: [ListedItem]], _ names: [String], _ random: inout SeededGenerator
    ) throws {
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let folder = Bool.random(using: &random) ? "/d" : "/e"
            var entries = listings[folder] ?? []
            guard let place = entries.indices.randomElement(using: &random) else { continue }
            let unused = names.filter { name in !listings.values.contains { $0.contains { $0.path.text == name } } }
            let tag = "\(Int.random(in: 0...2, using: &random))"
            switch Int.random(in: 0...13, using: &random) {
            case 0: entries[place].etag = ETag(field: tag)
            case 1: entries[place].etag = ETag(field: "W/\"1\"")
            case 2: entries[place].etag = nil
            case 3: entries[place].size = Int64.random(in: 0...2, using: &random)
            case 4: entries[place].lastModified = Timestamp(seconds: 1_000_000)
            case 5: entries[place].mimeType = "text/\(tag)"
            case 6: entries[place].isFavorite.toggle()
            case 7: entries[place].owner = Bool.random(using: &random) ? tag : nil
            case 8: entries[place].permissions = tag
            case 9: entries[place].fileID = FileID("n\(tag)")
            case 10: entries[place].kind = entries[place].kind == .file ? .folder : .file
            case 11: entries.remove(at: place)
            case 12:
                // The item moves, perhaps into the other folder.
                guard let name = unused.randomElement(using: &random) else { continue }
                var moved = entries.remove(at: place)
                moved.path = try ItemPath(name)
                listings[folder] = entries
                listings[String(name.prefix(2))]?.append(moved)
                continue
            default: entries.append(entries[place])
            }
            entries.shuffle(using: &random)
            listings[folder] = entries
        }
    }
}
