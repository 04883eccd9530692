import Model
import Testing

@testable import Connection

struct HintSetTests {
    @Test("O08: what an event concerns is told by its name")
    func names() {
        for name in ["postprocessing-finished", "item-moved", "folder-created", "file-touched"] {
            #expect(HintSet(streamEvent: name) == .items)
        }
        for name in ["share-removed", "link-created"] { #expect(HintSet(streamEvent: name) == .shares) }
        #expect(HintSet(streamEvent: "space-member-added") == [.shares, .account])
        for name in ["backchannel-logout", "userlog-notification", "message", ""] {
            #expect(HintSet(streamEvent: name) == .account)
        }
        #expect(HintSet(activity: "file_changed") == .items && HintSet(activity: "remote_share") == .shares)
        #expect(HintSet(activity: "shared") == .shares && HintSet(activity: "calendar") == .account)
    }
}
