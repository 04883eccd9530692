import Model
import Testing

@testable import ItemList

/// Tests of which folders are asked for when readers want them listed.
@Suite("Folders that readers want listed")
struct FolderRefreshesTests {
    @Test("U1: a folder is asked for once for all readers, and not if it was listed in the last ten seconds")
    func once() {
        let refreshes = FolderRefreshes()
        let a = ItemPath(unchecked: "/a")
        #expect(refreshes.ask(for: a, at: .seconds(0)))
        #expect(!refreshes.ask(for: a, at: .seconds(60)) && refreshes.awaited == [a])
        #expect(refreshes.noteListed(a, at: .seconds(100)))
        // What was found is not in the database yet.
        #expect(refreshes.awaited == [a] && !refreshes.ask(for: a, at: .seconds(101)))
        refreshes.noteDone([a])
        #expect(refreshes.awaited.isEmpty && !refreshes.ask(for: a, at: .seconds(110)))
        #expect(refreshes.ask(for: a, at: .seconds(111)) && refreshes.awaited == [a])
        refreshes.noteDone([a])
        #expect(refreshes.awaited.isEmpty && refreshes.ask(for: a, at: .seconds(111)))
    }
}
