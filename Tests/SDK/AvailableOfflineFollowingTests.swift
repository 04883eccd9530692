import CLarder
import LarderFakeHost
import Model
import Testing

/// How policies go with what they are for.
@Suite struct AvailableOfflineFollowingTests {
    let stage: Stage

    init() throws { stage = try Stage.opening(plugin: "AvailableOffline") }

    private func start(_ policies: ItemPolicy...) {
        for policy in policies { stage.put(policy) }
        #expect(stage.start("org.larder.available-offline") == LARDER_OK)
    }

    @Test("P22: a moved pinned folder takes its policy along, without a trigger, a download or a removal")
    func movedFolder() {
        start(.pin(folder: "/Old \"name\"", localID: "F"))
        stage.put(
            .folder("/New\nname", id: "F", here: "availableOffline"),
            .file("/New\nname/a", id: "a", here: "availableOffline"))
        #expect(stage.run(.itemsChanged, .folder("", id: "F"), .file("", id: "a")) == LARDER_OK)
        #expect(stage.policyChanges == [LARDER_POLICY_QUIET])
        #expect(stage.policies.map(\.path?.text) == ["/New\nname"])
        #expect(stage.policies.map(\.condition) == [ItemPolicy.pin(folder: "/New\nname").condition])
        stage.run(.itemListUpdateCompleted)
        #expect(stage.actions == [] && stage.policyChanges.count == 1 && stage.badConditions == [])
    }

    @Test("P22: a move that happened while the plugin was off is seen by the first look at everything")
    func movedUnseen() {
        start(.pin(folder: "/old", localID: "F"))
        stage.put(.folder("/new", id: "F", here: "availableOffline"), .file("/new/a", here: "availableOffline"))
        stage.run(.itemListUpdateCompleted)
        #expect(stage.policies.map(\.path?.text) == ["/new"])
        #expect(stage.actions == [])
        let before = stage.queries.count
        stage.run(.itemsChanged, .file("", id: "another"))
        stage.run(.syncCapacity)
        // Once after the policy's own change; then there is nothing to look for.
        #expect(stage.queries.count == before + 1)
    }

    @Test("P22, P58: a move of which nobody told yet is seen before a cleanup: nothing below is removed")
    func movedUntold() {
        start(.pin(folder: "/old", localID: "F"))
        stage.put(
            .folder("/old", id: "F", here: "availableOffline"), .file("/old/a", id: "a", here: "availableOffline"))
        for trigger in [Trigger.itemListUpdateCompleted, .policiesChanged] {
            stage.run(trigger)
            stage.run(trigger)
            // The scan has committed the move; the run that tells of it comes after this one.
            let path = "/new/\(trigger.name)"
            stage.put(
                .folder(path, id: "F", here: "availableOffline"), .file(path + "/a", id: "a", here: "availableOffline"))
            stage.run(trigger)
            #expect(stage.actions == [])
            #expect(stage.policies.map(\.path?.text) == [path])
        }
    }

    @Test("P22: a policy whose condition somebody else wrote is left as it is")
    func foreignCondition() {
        var policy = ItemPolicy.pin(folder: "/old", localID: "F")
        policy.condition = #"path.startsWith("/old/") && size < 100"#
        start(policy)
        stage.put(.folder("/new", id: "F"))
        stage.run(.itemsChanged, .folder("", id: "F"))
        #expect(stage.policyChanges == [])
        #expect(stage.policies.map(\.condition) == [policy.condition])
    }

    @Test("P24: a pinned file is followed by its id anywhere")
    func movedFile() {
        var policy = ItemPolicy.pin(folder: "/a/x", localID: "X")
        policy.condition = #"localID == "X""#
        start(policy)
        stage.put(.file("/b/y", id: "X"), .file("/a/x", id: "another"))
        stage.run(.itemsChanged, .file("", id: "X"), .file("", id: "another"))
        #expect(stage.paths("download") == ["/b/y"])
        #expect(stage.policies.map(\.path?.text) == ["/b/y"])
        #expect(stage.policies.map(\.condition) == [policy.condition])
    }

    @Test("P24: a path that was pinned before it was listed learns that it is a file")
    func learnsFile() {
        start(.pin(folder: "/x", localID: nil))
        stage.put(.file("/x", id: "X"), .file("/x/below", id: "B"))
        stage.run(.itemsChanged, .file("", id: "X"))
        #expect(stage.paths("download") == ["/x"])
        #expect(stage.policies.map(\.localID) == [LocalID("X")])
        #expect(stage.policies.map(\.condition) == [#"localID == "X""#])
        #expect(stage.policies.map(\.removeWhenNone) == [#"!removed && localID == "X""#])
    }

    @Test("P22: a path that was pinned before it was listed learns that it is a folder, and follows it")
    func learnsFolder() {
        start(.pin(folder: "/f", localID: nil))
        stage.put(.folder("/f", id: "F"))
        stage.run(.policiesChanged)
        #expect(stage.policies.map(\.localID) == [LocalID("F")])
        #expect(stage.policies.map(\.condition) == [ItemPolicy.pin(folder: "/f").condition])
        stage.put(.folder("/g", id: "F"))
        stage.run(.itemsChanged, .folder("", id: "F"))
        #expect(stage.policies.map(\.path?.text) == ["/g"])
    }

    @Test("P22: two spellings of one word are two names")
    func normalisation() {
        start(.pin(folder: "/\u{E9}", localID: nil))
        stage.put(.folder("/e\u{301}", id: "NFD"))
        stage.run(.itemsChanged, .folder("", id: "NFD"))
        #expect(stage.policies.map(\.localID) == [nil])
        stage.put(.folder("/\u{E9}", id: "NFC"))
        stage.run(.itemsChanged, .folder("", id: "NFC"))
        #expect(stage.policies.map(\.localID) == [LocalID("NFC")])
        stage.put(.folder("/e\u{301}/x", id: "NFC"))
        stage.run(.itemsChanged, .folder("", id: "NFC"))
        #expect(stage.policies.map { $0.path?.text.utf8.count } == [6])
    }

    @Test("P22: a policy that the host does not let change is tried again when the policies were read anew")
    func refusedUpdate() {
        start(.pin(folder: "/old", localID: "F"))
        stage.put(.folder("/new", id: "F"))
        larder_fake_fail(stage.fake, "policies.update", 1, LARDER_CONFLICT)
        #expect(stage.run(.itemsChanged, .folder("", id: "F")) == LARDER_CONFLICT)
        #expect(stage.policies.map(\.path?.text) == ["/old"])
        stage.put(.pin(folder: "/old", localID: "F"))
        stage.run(.policiesChanged)
        #expect(stage.policies.map(\.path?.text) == ["/new"])
    }
}
