import GRDB
import GRDBSQLite
import Glibc
import Model
import Synchronization
import TestSupport
import Testing
import TreeFixture

@testable import Database
@testable import LocalTree
@testable import Vault

/// Tests of the cost of a comparison of rows and tree. The cost is counted and not timed.
@Suite struct ReconcilerCostTests {
    @Test("H6: a start looks at inode and times alone: no file is opened, each folder is read once, and cost is linear")
    func start() throws {
        var steps: [Int] = []
        for files in [1_000, 4_000] {
            try withCopies(files, folders: 20) { tree, database in
                let opened = try Opened(below: tree.root)
                steps.append(
                    try countingSteps(of: database) {
                        let found = try Reconciler(database: database, tree: tree.tree).run()
                        #expect(found == [])
                    })
                let seen = try opened.take()
                #expect(seen.files.isEmpty)
                #expect(seen.folders == 21)
            }
        }
        #expect(steps[0] > 100 && steps[1] < steps[0] * 5, "\(steps)")
    }

    @Test("A file whose mark is no proof is the only one that is read")
    func unstable() throws {
        try withCopies(100, folders: 2) { tree, database in
            utimensat(AT_FDCWD, tree.root + "/d1/f7", nil, 0)
            let opened = try Opened(below: tree.root)
            #expect(try Reconciler(database: database, tree: tree.tree).run()?.isEmpty == true)
            let files = try opened.take().files
            #expect(files == ["f7"])
        }
    }

    @Test("Of new files, and of copies that are gone, each costs the same, however many there are in a folder")
    func changes() throws {
        for change in ["new", "gone"] {
            var steps: [Int] = []
            for files in [400, 1_600] {
                try withCopies(files, folders: 1) { tree, database in
                    // The journal holds as many records as there are files, for items that are elsewhere.
                    try database.writeBlocking { tx in
                        for number in 0..<files {
                            let path = ItemPath(unchecked: "/elsewhere/\(number)")
                            _ = try tx.journal.insert(
                                SyncRecord(
                                    action: .download, localID: .random(), path: path, reason: .user,
                                    since: Timestamp(seconds: 1)))
                        }
                    }
                    for number in 0..<files {
                        if change == "new" {
                            try Files.write("n", to: tree.root + "/d0/new\(number)")
                        } else {
                            Files.remove(tree.root + "/d0/f\(number)")
                        }
                    }
                    steps.append(
                        try countingSteps(of: database) {
                            let found = try Reconciler(database: database, tree: tree.tree).run()
                            #expect(found?.count == files)
                        })
                }
            }
            #expect(steps[0] > 100 && steps[1] < steps[0] * 5, "\(change): \(steps)")
        }
    }

    /// Calls `body` with a tree of copies whose rows are proof of their content.
    private func withCopies(
        _ count: Int, folders: Int, _ body: (TreeFixture, AccountDatabase) throws -> Void
    ) throws {
        try TreeFixture.with { tree in
            let database = try AccountDatabase.open(path: tree.incoming + "/../larder.db")
            let digest = sha256("content")
            var items: [Item] = []
            for number in 0..<folders {
                var folder = folderItem("/d\(number)")
                folder.cloudStatus = .localCopy
                items.append(folder)
            }
            for number in 0..<count {
                var item = fileItem("/d\(number % folders)/f\(number)")
                try Files.write("content", to: tree.root + item.path.text, mode: 0o600)
                item.cloudStatus = .localCopy
                let mark = try #require(tree.tree.mark(at: item.path))
                item.copy = tree.settled(
                    LocalCopy(etag: ETag(opaque: "1", strength: .strong), digest: digest, mark: mark))
                items.append(item)
            }
            try database.writeBlocking { [items] tx in for item in items { try tx.items.insert(item) } }
            try body(tree, database)
            try database.close()
        }
    }
}

/// The files and folders below a folder that any process opens, as the kernel reports them.
private struct Opened: ~Copyable {
    private let queue: Descriptor

    init(below root: String) throws {
        queue = Descriptor(inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)))
        guard queue.number >= 0 else { throw SetupError("inotify_init1: \(String(cString: strerror(errno)))") }
        for folder in try [root] + Files.names(in: root).map({ root + "/" + $0 }) {
            let watch = inotify_add_watch(queue.number, folder, UInt32(IN_OPEN | IN_ACCESS))
            guard watch >= 0 else { throw SetupError("watching \(folder): \(String(cString: strerror(errno)))") }
        }
    }

    /// Returns the names of the opened files, each once, and the number of times that folders were opened.
    func take() throws -> (files: Set<String>, folders: Int) {
        var (files, folders): (Set<String>, Int) = ([], 0)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 8)
        defer { buffer.deallocate() }
        while case let count = read(queue.number, buffer.baseAddress, buffer.count), count > 0 {
            var at = 0
            while at < count {
                let event = buffer.loadUnaligned(fromByteOffset: at, as: inotify_event.self)
                let name = buffer[(at + MemoryLayout<inotify_event>.size)...].prefix(Int(event.len)).prefix { $0 != 0 }
                if event.mask & UInt32(IN_Q_OVERFLOW) != 0 { throw SetupError("too many were opened to be counted") }
                if event.mask & UInt32(IN_ISDIR) == 0 {
                    files.insert(String(decoding: name, as: UTF8.self))
                } else if event.mask & UInt32(IN_OPEN) != 0, name.isEmpty {
                    folders += 1
                }
                at += MemoryLayout<inotify_event>.size + Int(event.len)
            }
        }
        return (files, folders)
    }
}

/// Returns the number of instructions, in hundreds, that SQLite's virtual machine carries out during `body`.
private func countingSteps(of database: AccountDatabase, _ body: () throws -> Void) throws -> Int {
    let counter = StepCounter()
    let context = Unmanaged.passUnretained(counter).toOpaque()
    func count(_ db: GRDB.Database, _ isOn: Bool) {
        sqlite3_progress_handler(
            db.sqliteConnection, isOn ? 100 : 0,
            { context in
                guard let context else { return 0 }
                Unmanaged<StepCounter>.fromOpaque(context).takeUnretainedValue().hundreds.add(1, ordering: .relaxed)
                return 0
            }, context)
    }
    try database.writeBlocking { count($0.db, true) }
    try database.readBlocking { count($0.db, true) }
    try body()
    try database.writeBlocking { count($0.db, false) }
    try database.readBlocking { count($0.db, false) }
    return counter.hundreds.load(ordering: .relaxed)
}

private final class StepCounter: Sendable {
    let hundreds = Atomic<Int>(0)
}
