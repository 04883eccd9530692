import Model
import TestSupport
import Testing

@testable import Database
@testable import LocalTree
@testable import Vault

@Suite struct TreeComparisonTests {
    private let known = mark(inode: 1)
    private func row(_ status: CloudStatus, kind: Item.Kind = .file, hasCopy: Bool = true) -> RecordedEntry {
        var mark = known
        mark.recorded = mark.changed + .seconds(1)
        return RecordedEntry(
            databaseID: 1, localID: LocalID("l"), path: ItemPath(unchecked: "/a"), kind: kind, status: status,
            copy: hasCopy ? LocalCopy(etag: ETag(opaque: "e", strength: .strong), digest: [7], mark: mark) : nil,
            size: known.size, lastModified: known.modified)
    }

    private func other(_ change: (inout FileMark) -> Void) -> FileMark {
        var other = known
        change(&other)
        return other
    }

    @Test("A copy that is as recorded is unchanged; one whose mark is no proof is read")
    func sameMark() {
        #expect(TreeDifference.compare(row(.localCopy), with: .file(known)) == .unchanged)
        var fresh = row(.localCopy)
        fresh.copy?.mark.recorded = known.changed
        #expect(TreeDifference.compare(fresh, with: .file(known)) == .unsure(digest: [7]))
    }

    @Test("Another inode, time or change time is settled by reading; another size is proof of a change")
    func otherMark() {
        for changed in [
            other { $0.inode = 2 }, other { $0.modified = Timestamp(seconds: 9) },
            other { $0.changed = Timestamp(seconds: 9) },
        ] {
            #expect(TreeDifference.compare(row(.localCopy), with: .file(changed)) == .unsure(digest: [7]))
        }
        #expect(TreeDifference.compare(row(.localCopy), with: .file(other { $0.size = 11 })) == .modified)
    }

    @Test("What is missing was removed by hand; what cannot be read was not")
    func missing() {
        #expect(TreeDifference.compare(row(.localCopy), with: .nothing) == .freed)
        #expect(TreeDifference.compare(row(.locallyModified), with: .nothing) == .freed)
        #expect(TreeDifference.compare(row(.localOnly), with: .nothing) == .gone)
        for found in [FoundEntry.folder, .other] {
            #expect(TreeDifference.compare(row(.localCopy), with: found) == .freed)
        }
        for status in CloudStatus.allCases {
            #expect(TreeDifference.compare(row(status), with: .unreadable(because: "I/O error")) == .unchanged)
        }
    }

    @Test("A folder is there or not")
    func folders() {
        let folder = row(.localCopy, kind: .folder, hasCopy: false)
        #expect(TreeDifference.compare(folder, with: .folder) == .unchanged)
        #expect(TreeDifference.compare(folder, with: .nothing) == .freed)
        #expect(TreeDifference.compare(folder, with: .file(known)) == .freed)
    }

    @Test("A modified file is read only if it has its copy's size, and is never taken for known by its looks")
    func modified() {
        #expect(TreeDifference.compare(row(.locallyModified), with: .file(other { $0.size = 11 })) == .unchanged)
        #expect(TreeDifference.compare(row(.locallyModified), with: .file(known)) == .unsure(digest: [7]))
        #expect(TreeDifference.compare(row(.locallyModified, hasCopy: false), with: .file(known)) == .unchanged)
        #expect(TreeDifference.compare(row(.localCopy, hasCopy: false), with: .file(known)) == .modified)
    }

    @Test("What is only here is unchanged, or rewritten")
    func localOnly() {
        #expect(TreeDifference.compare(row(.localOnly, hasCopy: false), with: .file(known)) == .unchanged)
        let rewritten = other { $0.size = 11 }
        #expect(
            TreeDifference.compare(row(.localOnly, hasCopy: false), with: .file(rewritten)) == .rewritten(rewritten))
    }
}
