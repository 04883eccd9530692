import Model
import Testing

@Suite struct IdentityTests {
    @Test("A policy's id is a random UUID of version 4 in lower case")
    func policyID() {
        let ids = (0..<200).map { _ in PolicyID.random() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            let parts = id.text.split(separator: "-", omittingEmptySubsequences: false)
            #expect(parts.map(\.count) == [8, 4, 4, 4, 12])
            #expect(id.text.allSatisfy { "0123456789abcdef-".contains($0) })
            #expect(parts[2].first == "4" && "89ab".contains(parts[3].first ?? "x"))
        }
    }

    @Test("A local id has 32 hexadecimal digits")
    func localID() {
        let id = LocalID.random()
        #expect(id.text.count == 32 && id.text.allSatisfy { "0123456789abcdef".contains($0) })
        #expect(id != .random())
    }

    @Test("A file's substitute id is told from the server's")
    func fileID() {
        #expect(!FileID.substitute(for: .root).isFromServer)
        #expect(FileID("00000042oc").isFromServer)
    }

    @Test("A first-party plugin is known by its short name")
    func pluginID() {
        #expect(PluginID(shortOrFull: "vacuum").text == "org.larder.vacuum")
        #expect(PluginID(shortOrFull: "org.example.archive").shortName == "org.example.archive")
        #expect(PluginID("org.larder.vacuum").shortName == "vacuum")
    }

    @Test("Ids are equal only to the same bytes, and hash so")
    func bytes() {
        #expect(FileID("\u{e9}") != FileID("e\u{301}"))
        #expect(Set([FileID("\u{e9}"), FileID("e\u{301}"), FileID("\u{e9}")]).count == 2)
    }

    @Test("The nearest name is found; where only a likely one is wanted, none if none is near")
    func nearest() {
        for ifLikely in [false, true] {
            #expect(nearestName(to: "Sise", among: ["size", "type"], ifLikely: ifLikely) == "size")
            #expect(nearestName(to: "lastUse", among: ["lastModified", "lastUsed"], ifLikely: ifLikely) == "lastUsed")
            #expect(nearestName(to: "wlak", among: ["wink", "walk"], ifLikely: ifLikely) == "walk")
            #expect(nearestName(to: "Poll", among: ["walk", "poll"], ifLikely: ifLikely) == "poll")
            #expect(nearestName(to: "x", among: [], ifLikely: ifLikely) == nil)
        }
        #expect(nearestName(to: "zzz", among: ["size", "type"], ifLikely: true) == nil)
        #expect(nearestName(to: "zzz", among: ["size", "type"]) == "size")
        #expect(nearestName(to: "", among: ["size"], ifLikely: true) == nil)
        #expect(nearestName(to: String(repeating: "x", count: 100_000), among: ["size"], ifLikely: true) == nil)
    }
}
