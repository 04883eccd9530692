import CLarder
import LarderFakeHost
import Model
import Testing

/// Tests that policies follow the items that they are for.
@Suite struct AvailableOfflineFollowingTests {
    let fixture: PluginFixture

    init() throws { fixture = try PluginFixture.opening(plugin: "AvailableOffline") }

    private func start(_ policies: ItemPolicy...) {
        for policy in policies { fixture.put(policy) }
        #expect(fixture.start("org.larder.available-offline") == LARDER_OK)
    }

    @Test("P22: a moved pinned folder takes its policy along, without a trigger, a download or a removal")
    func movedFolder() {
        start(.pin(folder: "/Old \"name\"", localID: "F"))
        fixture.put(
            .folder("/New\nname", id: "F", here: "availableOffline"),
            .file("/New\nname/a", id: "a", here: "availableOffline"))
        #expect(fixture.run(.itemsChanged, .folder("", id: "F"), .file("", id: "a")) == LARDER_OK)
        #expect(fixture.policyChanges == [LARDER_POLICY_QUIET])
        #expect(fixture.policies.map(\.path?.text) == ["/New\nname"])
        #expect(fixture.policies.map(\.condition) == [ItemPolicy.pin(folder: "/New\nname").condition])
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.actions == [] && fixture.policyChanges.count == 1)
    }

    @Test("P22: a move that happened while the plugin was off is seen by the first look at everything")
    func movedUnseen() {
        start(.pin(folder: "/old", localID: "F"))
        fixture.put(.folder("/new", id: "F", here: "availableOffline"), .file("/new/a", here: "availableOffline"))
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.policies.map(\.path?.text) == ["/new"])
        #expect(fixture.actions == [])
        let before = fixture.queries.count
        fixture.run(.itemsChanged, .file("", id: "another"))
        fixture.run(.syncCapacity)
        // One query follows the policy's own change. After that there is nothing to search for.
        #expect(fixture.queries.count == before + 1)
    }

    @Test("P22, P58: a move of which nobody told yet is seen before a cleanup: nothing below is removed")
    func movedUntold() {
        start(.pin(folder: "/old", localID: "F"))
        fixture.put(
            .folder("/old", id: "F", here: "availableOffline"), .file("/old/a", id: "a", here: "availableOffline"))
        for trigger in [Trigger.itemListUpdateCompleted, .policiesChanged] {
            fixture.run(trigger)
            fixture.run(trigger)
            // The scan has committed the move. The run that reports the move comes after this one.
            let path = "/new/\(trigger.name)"
            fixture.put(
                .folder(path, id: "F", here: "availableOffline"), .file(path + "/a", id: "a", here: "availableOffline"))
            fixture.run(trigger)
            #expect(fixture.actions == [])
            #expect(fixture.policies.map(\.path?.text) == [path])
        }
    }

    @Test("P22: a policy whose condition somebody else wrote is left as it is")
    func foreignCondition() {
        var policy = ItemPolicy.pin(folder: "/old", localID: "F")
        policy.condition = #"path.startsWith("/old/") && size < 100"#
        start(policy)
        fixture.put(.folder("/new", id: "F"))
        fixture.run(.itemsChanged, .folder("", id: "F"))
        #expect(fixture.policyChanges == [])
        #expect(fixture.policies.map(\.condition) == [policy.condition])
    }

    @Test("P24: a pinned file is followed by its id anywhere")
    func movedFile() {
        var policy = ItemPolicy.pin(folder: "/a/x", localID: "X")
        policy.condition = #"localID == "X""#
        start(policy)
        fixture.put(.file("/b/y", id: "X"), .file("/a/x", id: "another"))
        fixture.run(.itemsChanged, .file("", id: "X"), .file("", id: "another"))
        #expect(fixture.paths("download") == ["/b/y"])
        #expect(fixture.policies.map(\.path?.text) == ["/b/y"])
        #expect(fixture.policies.map(\.condition) == [policy.condition])
    }

    @Test("P24: a path that was pinned before it was listed learns that it is a file")
    func learnsFile() {
        start(.pin(folder: "/x", localID: nil))
        fixture.put(.file("/x", id: "X"), .file("/x/below", id: "B"))
        fixture.run(.itemsChanged, .file("", id: "X"))
        #expect(fixture.paths("download") == ["/x"])
        #expect(fixture.policies.map(\.localID) == [LocalID("X")])
        #expect(fixture.policies.map(\.condition) == [#"localID == "X""#])
        #expect(fixture.policies.map(\.removeWhenNone) == [#"!removed && localID == "X""#])
    }

    @Test("P22: a path that was pinned before it was listed learns that it is a folder, and follows it")
    func learnsFolder() {
        start(.pin(folder: "/f", localID: nil))
        fixture.put(.folder("/f", id: "F"))
        fixture.run(.policiesChanged)
        #expect(fixture.policies.map(\.localID) == [LocalID("F")])
        #expect(fixture.policies.map(\.condition) == [ItemPolicy.pin(folder: "/f").condition])
        fixture.put(.folder("/g", id: "F"))
        fixture.run(.itemsChanged, .folder("", id: "F"))
        #expect(fixture.policies.map(\.path?.text) == ["/g"])
    }

    @Test("P22: two spellings of one word are two names")
    func normalisation() {
        start(.pin(folder: "/\u{E9}", localID: nil))
        fixture.put(.folder("/e\u{301}", id: "NFD"))
        fixture.run(.itemsChanged, .folder("", id: "NFD"))
        #expect(fixture.policies.map(\.localID) == [nil])
        fixture.put(.folder("/\u{E9}", id: "NFC"))
        fixture.run(.itemsChanged, .folder("", id: "NFC"))
        #expect(fixture.policies.map(\.localID) == [LocalID("NFC")])
        fixture.put(.folder("/e\u{301}/x", id: "NFC"))
        fixture.run(.itemsChanged, .folder("", id: "NFC"))
        #expect(fixture.policies.map { $0.path?.text.utf8.count } == [6])
    }

    @Test("P22: a policy that the host does not let change is tried again when the policies were read anew")
    func refusedUpdate() {
        start(.pin(folder: "/old", localID: "F"))
        fixture.put(.folder("/new", id: "F"))
        larder_fake_fail(fixture.fake, "policies.update", 1, LARDER_CONFLICT)
        #expect(fixture.run(.itemsChanged, .folder("", id: "F")) == LARDER_CONFLICT)
        #expect(fixture.policies.map(\.path?.text) == ["/old"])
        fixture.put(.pin(folder: "/old", localID: "F"))
        fixture.run(.policiesChanged)
        #expect(fixture.policies.map(\.path?.text) == ["/new"])
    }
}
