import CLarder
import LarderFakeHost
import Model
import Testing

@Suite struct AvailableOfflineTests {
    let fixture: PluginFixture

    init() throws { fixture = try PluginFixture.opening(plugin: "AvailableOffline") }

    private func start(_ policies: ItemPolicy..., settings: String = "{}") {
        for policy in policies { fixture.put(policy) }
        #expect(fixture.start("org.larder.available-offline", settings: settings) == LARDER_OK)
    }

    @Test("P17: what is covered and not here is asked for, folders too, and nothing else")
    func matches() throws {
        start(.pin(folder: "/Photos"))
        fixture.put(
            .folder("/Photos"), .file("/Photos/a.jpg", etag: "1"), .folder("/Photos/2020"), .file("/Photos/2020/b"),
            .file("/PhotosX"), .file("/Other/a"), .file("/Photos/gone", removed: true),
            .file("/Photos/here", here: "availableOffline"), .file("/Photos/mine", status: .localOnly))
        #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
        #expect(fixture.paths("download") == ["/Photos", "/Photos/2020", "/Photos/2020/b", "/Photos/a.jpg"])
        #expect(fixture.actions.allSatisfy { $0.key == "" })
        #expect(fixture.paths("remove_local_copy") == [])
        #expect(fixture.mistakes == [])
    }

    @Test("P18: a new file below a pinned folder is asked for when it appears")
    func newFile() {
        start(.pin(folder: "/"))
        let new = Item.file("/new")
        fixture.put(.file("/old"), new)
        fixture.run(.itemsChanged, new)
        #expect(fixture.paths("download") == ["/new"])
    }

    @Test("P19: without the outer policy, what the inner one covers stays")
    func nested() {
        let outer = ItemPolicy.pin(folder: "/a")
        start(outer, .pin(folder: "/a/b"))
        fixture.put(.file("/a/x", here: "availableOffline"), .file("/a/b/y", here: "availableOffline"))
        fixture.run(.policiesChanged)
        #expect(fixture.actions == [])
        fixture.drop(outer)
        fixture.run(.policiesChanged)
        #expect(fixture.paths("remove_local_copy") == ["/a/x"])
        #expect(fixture.paths("download") == [])
    }

    @Test("P21: a copy that somebody else brought is asked for, so that it is adopted; our own current one is not")
    func adopts() {
        start(.pin(folder: "/a"))
        fixture.put(.file("/a/users", here: "user"), .file("/a/ours", here: "availableOffline"))
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.paths("download") == ["/a/users"])
    }

    @Test(
        "P25: copies that are covered no more go; modified ones and other plugins' are left; folders go last, deepest first"
    )
    func unpin() {
        start()
        fixture.put(
            .folder("/a", here: "availableOffline"), .folder("/a/b", here: "availableOffline"),
            .file("/a/b/c", here: "availableOffline"),
            .file("/a/mine", here: "availableOffline", status: .locallyModified),
            .file("/a/users", here: "user"), .file("/a/cloud"))
        #expect(larder_fake_match_condition(fixture.fake) == nil)
        fixture.run(.itemsChanged, .file("/a/b/c"))
        #expect(fixture.actions == [])
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.paths("remove_local_copy") == ["/a/b/c", "/a/b", "/a"])
        fixture.forget()
        fixture.run(.policiesChanged)
        #expect(fixture.paths("remove_local_copy").count == 3)
    }

    @Test("P27: an adopted copy gets its former trigger back, unless keep-downloads is off", arguments: [true, false])
    func keepDownloads(_ keeps: Bool) {
        start(settings: #"{"keep-downloads": \#(keeps)}"#)
        fixture.put(.file("/a", here: "availableOffline"))
        fixture.run(.policiesChanged)
        #expect(fixture.actions.map(\.flags) == [keeps ? LARDER_REMOVE_RESTORE_FORMER : 0])
    }

    @Test("P28: a newer version is asked for while the old copy is here; a modified copy is left alone")
    func newerVersion() {
        start(.pin(folder: "/a"))
        fixture.put(
            .file("/a/x", etag: "2", here: "availableOffline", copyEtag: "1"),
            .file("/a/mine", etag: "2", here: "availableOffline", copyEtag: "1", status: .locallyModified))
        fixture.run(.itemsChanged, .file("/a/x"), .file("/a/mine"))
        #expect(fixture.paths("download") == ["/a/x"])
        #expect(fixture.paths("remove_local_copy") == [])
    }

    @Test(
        "P29: downloads are asked for only as long as the policies cover the item, and the host can tell whether they do"
    )
    func whileCovered() throws {
        let pin = ItemPolicy.pin(folder: "/a")
        start(pin)
        fixture.put(.file("/a/x"))
        fixture.run(.policiesChanged)
        #expect(fixture.actions.map(\.flags) == [LARDER_DOWNLOAD_WHILE_COVERED])
        #expect(larder_fake_policy_condition(fixture.fake).map { String(cString: $0) } == pin.condition)
        fixture.drop(pin)
        fixture.run(.policiesChanged)
        #expect(larder_fake_policy_condition(fixture.fake) == nil)
    }

    @Test("P33: after a start everything is looked at once more, with the policies as they are now")
    func restart() {
        start(.pin(folder: "/a"))
        larder_fake_stop(fixture.fake)
        fixture.put(.file("/a/x"), .file("/b", here: "availableOffline"))
        #expect(fixture.run(.itemListUpdateCompleted) == LARDER_WRONG_STATE)
        #expect(fixture.actions == [])
        #expect(fixture.start("org.larder.available-offline") == LARDER_OK)
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.paths("download") == ["/a/x"] && fixture.paths("remove_local_copy") == ["/b"])
    }

    @Test("G11: without a service that it requires it does not start, and says which")
    func withheld() {
        larder_fake_withhold(fixture.fake, LARDER_EXT_ACTIONS)
        #expect(fixture.start("org.larder.available-offline") == LARDER_UNSUPPORTED)
        #expect(
            fixture.problem
                == "it requires the service larder.actions/1, which the config withholds; to grant it, remove it from "
                + "`withhold` under `plugins.available-offline`")
    }

    @Test("P53: when the host refuses a download of one item, the next one is still asked for")
    func refusedDownload() {
        start(.pin(folder: "/a"))
        fixture.put(.file("/a/1"), .file("/a/2"), .file("/a/3"))
        larder_fake_fail(fixture.fake, "actions.download", 2, LARDER_LIMIT)
        #expect(fixture.run(.itemListUpdateCompleted) == LARDER_LIMIT)
        #expect(fixture.paths("download") == ["/a/1", "/a/3"])
        #expect(fixture.failures == ["the host's actions.download failed: a limit is reached"])
    }
}
