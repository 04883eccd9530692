import Model
import Testing

@testable import Core

@Suite struct WaitPathTests {
    private func isMeant(_ action: SyncRecord.Action, _ path: String, by waited: String) throws -> Bool {
        let record = SyncRecord(
            action: action, localID: .random(), path: try ItemPath(path), reason: .user, since: Timestamp(seconds: 0))
        return Wait(try ItemPath(waited)).isMeant(record)
    }

    @Test(
        "U8: a wait for a path looks at both ends of a move and of a copy, and at what comes to a folder above the path"
    )
    func bothEnds() throws {
        let (from, to) = (try ItemPath("/x"), try ItemPath("/Docs/x"))
        for waited in ["/x", "/Docs", "/Docs/x", "/Docs/x/below", "/x/below", "/"] {
            #expect(try isMeant(.move(to: to), "/x", by: waited), "\(waited)")
        }
        for waited in ["/x", "/Docs", "/Docs/x/below"] {
            #expect(try isMeant(.copy(from: from), "/Docs/x", by: waited), "\(waited)")
        }
        #expect(try isMeant(.delete(), "/x", by: "/x/below") && isMeant(.createFolder, "/x", by: "/x/below"))
        for waited in ["/Other", "/Docs/y", "/Docs/xy"] {
            #expect(try !isMeant(.move(to: to), "/x", by: waited), "\(waited)")
        }
        #expect(try !isMeant(.setFavorite(true), "/x", by: "/x/below") && !isMeant(.download, "/x", by: "/x/below"))
    }
}
