import GRDBSQLite
import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct BlobStackTests {
        private let fixture: StorageFixture
        private let stack: BlobStack
        private static let blobs: [[UInt8]] = [[1], [], [3, 3, 3], [4, 0, 4]]

        init() throws {
            fixture = try StorageFixture()
            stack = try BlobStack(path: "\(fixture.folder)/blobs")
            for blob in Self.blobs { try stack.push(blob) }
        }

        /// Returns the error that `body` throws when the table has been removed, as in a damaged file; nil if `body`
        /// throws none.
        private func failureWithoutTable(_ body: (BlobStack) throws(ProjectError) -> Void) throws -> ProjectError? {
            var other: OpaquePointer?
            #expect(sqlite3_open(stack.path, &other) == SQLITE_OK)
            #expect(sqlite3_exec(other, "DROP TABLE blobs", nil, nil, nil) == SQLITE_OK)
            sqlite3_close(other)
            return failure { () throws(ProjectError) in try body(stack) }
        }

        @Test("W behaviour 96: a blob at each index")
        func each() throws {
            for (index, blob) in Self.blobs.enumerated() { #expect(try stack.blob(at: index) == blob) }
        }

        @Test("W behaviour 97: pop from 2 of 4 leaves the first two")
        func pop() throws {
            try stack.pop(from: 2)
            #expect(try stack.count == 2)
            #expect(try stack.blobs(in: 0..<2) == Array(Self.blobs[..<2]))
            try stack.push([7])
            #expect(try stack.blob(at: 2) == [7])
        }

        @Test("W behaviour 98: blobs in ranges")
        func ranges() throws {
            for range in [0..<4, 1..<3, 0..<1] { #expect(try stack.blobs(in: range) == Array(Self.blobs[range])) }
        }

        @Test("W behaviour 99: the count")
        func count() throws { #expect(try stack.count == 4) }

        @Test("W behaviour 100: in a folder that is not there opening is a failed write")
        func missingFolder() {
            let error = failure { () throws(ProjectError) in try BlobStack(path: "\(fixture.folder)/missing/blobs") }
            #expect(error?.code == .writeFailed)
        }

        @Test("W behaviour 101: what was pushed is there after closing and opening")
        func reopen() throws {
            stack.close()
            #expect(try BlobStack(path: stack.path).blobs(in: 0..<4) == Self.blobs)
        }

        @Test("W behaviour 102: a new stack is open")
        func open() { #expect(stack.isOpen) }

        @Test("W behaviour 103: a closed stack is not open")
        func closed() {
            stack.close()
            stack.close()
            #expect(!stack.isOpen)
        }

        @Test("W behaviour 104: a table that cannot be made is a failed write")
        func noTable() throws {
            try Files.write("this is no database, and long enough to be seen as none", to: "\(fixture.folder)/other")
            let error = failure { () throws(ProjectError) in try BlobStack(path: "\(fixture.folder)/other") }
            #expect(error?.code == .writeFailed)
            #expect((error?.underlying as? BlobStackError)?.code == SQLITE_NOTADB)
        }

        @Test("W behaviour 105: a push that fails is a failed write")
        func pushFails() throws {
            #expect(
                try failureWithoutTable { stack throws(ProjectError) in try stack.push([1]) }?.code == .writeFailed)
        }

        @Test("W behaviour 106: a pop that fails is a failed deletion")
        func popFails() throws {
            #expect(
                try failureWithoutTable { stack throws(ProjectError) in try stack.pop(from: 0) }?.code == .deleteFailed)
        }

        @Test("W behaviour 107: a blob that cannot be read is a failed fetch")
        func readFails() throws {
            #expect(
                try failureWithoutTable { stack throws(ProjectError) in _ = try stack.blob(at: 0) }?.code
                    == .fetchFailed)
        }

        @Test("W behaviour 108: a range that cannot be read is a failed fetch")
        func rangeFails() throws {
            #expect(
                try failureWithoutTable { stack throws(ProjectError) in _ = try stack.blobs(in: 0..<2) }?.code
                    == .fetchFailed)
        }

        @Test("W behaviour 109: a count that cannot be had is a failed fetch")
        func countFails() throws {
            #expect(
                try failureWithoutTable { stack throws(ProjectError) in _ = try stack.count }?.code == .fetchFailed)
        }

        @Test("W20: an index that is not there is a failed fetch, and so is every call on a closed stack")
        func outOfRange() throws {
            for index in [-1, 4, .max, .min] {
                #expect(
                    failure { () throws(ProjectError) in try stack.blob(at: index) }?.code == .fetchFailed, "\(index)")
            }
            #expect(failure { () throws(ProjectError) in try stack.blobs(in: 2..<5) }?.code == .fetchFailed)
            #expect(failure { () throws(ProjectError) in try stack.pop(from: -1) }?.code == .deleteFailed)
            try stack.pop(from: 9)
            #expect(try stack.count == 4)
            stack.close()
            #expect(failure { () throws(ProjectError) in try stack.blob(at: 0) }?.code == .fetchFailed)
            #expect(failure { () throws(ProjectError) in try stack.push([]) }?.code == .writeFailed)
            #expect(failure { () throws(ProjectError) in try stack.pop(from: 0) }?.code == .deleteFailed)
        }
    }
}
