import CLarder
import LarderFakeHost
import Model
import Testing

/// Tests of the plugin for rules in a fake host.
@Suite struct RulesTests {
    let fixture: PluginFixture

    init() throws { fixture = try PluginFixture.opening(plugin: "Rules") }

    static let ours = "org.larder.rules"
    static let download = "download", remove = "remove_local_copy"

    @discardableResult private func start(_ rules: String...) -> larder_status {
        fixture.start(Self.ours, settings: #"{"rules": [\#(rules.joined(separator: ", "))]}"#)
    }

    /// Makes the JSON of a rule. The conditions quote with apostrophes.
    private func rule(_ name: String, _ keep: String, _ match: String, unless: String? = nil) -> String {
        let exception = unless.map { #", "unless": "\#($0)""# } ?? ""
        return #"{"name": "\#(name)", "keep": "\#(keep)", "match": "\#(match)"\#(exception)}"#
    }

    /// Makes the run after a scan and returns what it asks for.
    private func asked(
        _ trigger: Trigger = .itemListUpdateCompleted, _ changed: Item...
    ) -> (here: [String], away: [String]) {
        fixture.forget()
        for item in changed { fixture.put(item) }
        if let first = changed.first { fixture.run(trigger, first) } else { fixture.run(trigger) }
        #expect(fixture.mistakes == [] && fixture.failures == [])
        return (fixture.paths(Self.download), fixture.paths(Self.remove))
    }

    @Test("What a rule keeps here is asked for as long as it is covered; folders and the files of no rule are not")
    func here() {
        start(rule("music", "here", "path.startsWith('/Music/')"))
        fixture.put(
            .folder("/Music"), .folder("/Music/A"), .file("/Music/A/a"), .file("/other"),
            .file("/Music/gone", removed: true), .file("/Music/ours", here: Self.ours),
            .file("/Music/mine", status: .localOnly), .file("/Music/changed", here: "user", status: .locallyModified))
        #expect(asked() == (["/Music/A/a"], []))
        #expect(fixture.actions.map(\.flags) == [LARDER_DOWNLOAD_WHILE_COVERED])
        #expect(
            larder_fake_policy_condition(fixture.fake).map { String(cString: $0) } == "path.startsWith('/Music/')")
    }

    @Test("A person's copy is adopted, another plugin's is not; one of ours that is outdated is asked for anew")
    func adopts() {
        start(rule("all", "here", "true"))
        fixture.put(
            .file("/users", here: "user"), .file("/theirs", etag: "2", here: "org.example.a", copyEtag: "1"),
            .file("/outdated", etag: "2", here: Self.ours, copyEtag: "1"), .file("/ours", here: Self.ours))
        #expect(asked() == (["/outdated", "/users"], []))
    }

    @Test("What a rule keeps away goes if nobody uses it; a pin, a claim and what only this machine has come before")
    func away() {
        fixture.put(ItemPolicy.pin(folder: "/big/pinned"))
        start(rule("big", "away", "path.startsWith('/big/')"))
        fixture.put(
            .folder("/big", here: "user"), .file("/big/users", here: "user"), .file("/big/ours", here: Self.ours),
            .file("/big/theirs", here: "org.example.a"), .file("/big/cloud"),
            .file("/big/pinned/a", here: "availableOffline"), .file("/big/pinned/b", here: "user"),
            .file("/big/changed", here: "user", status: .locallyModified), .file("/big/new", status: .localOnly))
        fixture.put(.file("/big/claimed", here: "user"), claims: LARDER_CLAIM_READ)
        #expect(asked() == ([], ["/big/ours", "/big/theirs", "/big/users"]))
        #expect(fixture.actions.allSatisfy { $0.flags == LARDER_REMOVE_IF_UNUSED })
    }

    @Test("A pin comes before a rule that keeps the file here, so that the two do not adopt the copy in turns")
    func pinnedHere() {
        fixture.put(ItemPolicy.pin(folder: "/a"))
        start(rule("all", "here", "true"))
        fixture.put(.file("/a/pinned", here: "availableOffline"), .file("/a/cloud"), .file("/b"))
        #expect(asked() == (["/b"], []))
    }

    @Test("The first rule that is for a file decides; `unless` leaves files to the rules after it")
    func first() {
        start(
            rule("small", "here", "size < 10", unless: "name == 'no' || name == 'never'"),
            rule("never", "away", "name == 'never'"), rule("rest", "here", "name == 'no' || name == 'never'"))
        for (name, size) in [("a", 5), ("b", 50), ("no", 5), ("never", 5)] as [(String, Int64)] {
            var item = Item.file("/\(name)", here: name == "never" ? "user" : nil)
            item.size = size
            fixture.put(item)
        }
        #expect(asked() == (["/a", "/no"], ["/never"]))
    }

    @Test("What the plugin brought goes when no rule is for it any more, or goes back to whoever had it before")
    func released() {
        start(rule("music", "here", "path.startsWith('/Music/')"), rule("away", "away", "name == 'away'"))
        fixture.put(
            .file("/old", here: Self.ours), .file("/away", here: Self.ours), .file("/users", here: "user"),
            .file("/Music/a", here: Self.ours))
        #expect(asked() == ([], ["/away", "/old"]))
        #expect(
            fixture.actions.map(\.flags) == [
                LARDER_REMOVE_IF_UNUSED, LARDER_REMOVE_IF_UNUSED | LARDER_REMOVE_RESTORE_FORMER,
            ])
    }

    @Test("Without rules nothing is asked for but the end of what the plugin brought")
    func noRules() {
        #expect(start() == LARDER_OK)
        fixture.put(.file("/a"), .file("/users", here: "user"), .file("/ours", here: Self.ours))
        #expect(asked() == ([], ["/ours"]))
    }

    private func podcast(_ path: String, day: Int64, here trigger: String? = nil) -> Item {
        var item = Item.file(path, here: trigger)
        item.lastModified = Timestamp(seconds: day * 86_400)
        return item
    }

    @Test("Of each folder the newest stay here and the others go; equal ones count in the order of their paths")
    func newest() {
        start(rule("podcasts", "newest 2 by lastModified", "path.startsWith('/P/')"))
        fixture.put(
            .folder("/P/A"), podcast("/P/A/1", day: 1, here: Self.ours), podcast("/P/A/2", day: 2, here: Self.ours),
            podcast("/P/A/3", day: 3), podcast("/P/A/4", day: 3), podcast("/P/A/5", day: 3, here: "user"),
            podcast("/P/B/1", day: 1), podcast("/P/B/none", day: 0), podcast("/Q/1", day: 9),
            podcast("/P/A/x/1", day: 1))
        #expect(asked() == (["/P/A/3", "/P/A/4", "/P/A/x/1", "/P/B/1", "/P/B/none"], ["/P/A/1", "/P/A/2", "/P/A/5"]))
        // A newer file takes the place of the last one.
        for name in ["3", "4"] { fixture.put(podcast("/P/A/\(name)", day: 3, here: Self.ours)) }
        for name in ["1", "2", "5"] { fixture.put(podcast("/P/A/\(name)", day: 1)) }
        for path in ["/P/A/x/1", "/P/B/1", "/P/B/none"] { fixture.put(podcast(path, day: 1, here: Self.ours)) }
        #expect(asked() == ([], []))
        fixture.put(podcast("/P/A/6", day: 6))
        #expect(asked() == (["/P/A/6"], ["/P/A/4"]))
    }

    @Test(
        "Files without a value are the last of their folder", arguments: ["lastModified", "lastUsed", "size", "name"])
    func orders(_ property: String) {
        start(rule("one", "newest 1 by \(property)", "true"))
        var two = podcast("/a2", day: 2)
        (two.size, two.lastUsed) = (2, Timestamp(seconds: 2))
        var one = podcast("/a1", day: 1)
        (one.size, one.lastUsed) = (1, Timestamp(seconds: 1))
        fixture.put(.file("/a0"), two, one)
        #expect(asked() == (["/a2"], []))
    }

    @Test("Of many folders no file is lost, whether the host is told their ids or all that the rule is for")
    func many() {
        start(rule("each", "newest 1 by name", "path.startsWith('/P/')"), rule("here", "here", "true"))
        for folder in 0..<5_100 {
            fixture.put(.file("/P/\(folder)/a"), .file("/P/\(folder)/b"))
        }
        fixture.put(.file("/other"))
        let brought = asked().here
        #expect(brought.count == 5_101 && brought.allSatisfy { $0 == "/other" || $0.hasSuffix("/b") })
        for folder in 0..<5_100 {
            fixture.put(.file("/P/\(folder)/a", here: "user"), .file("/P/\(folder)/b", here: Self.ours))
        }
        fixture.put(.file("/other", here: Self.ours))
        let (here, gone) = asked()
        #expect(here == [] && gone.count == 5_100 && gone.allSatisfy { $0.hasSuffix("/a") })
    }

    @Test("Rules without a name, or of one name, are refused", arguments: ["", "b"])
    func names(_ name: String) {
        #expect(start(rule("b", "here", "false"), rule(name, "here", "true")) == LARDER_INVALID_ARGUMENT)
        let message = name.isEmpty ? "a rule has an empty name" : #"two rules have the name "b""#
        #expect(fixture.failures.contains { $0.contains(message) }, "\(fixture.failures)")
    }

    @Test(
        "A `keep` that makes no sense is an error of the settings, which names the rule and what to write",
        arguments: [
            "", "there", "here ", "newest", "newest 5", "newest 5 by lastModified now", "newest 0 by size",
            "newest -1 by size", "newest 05 by size", "newest 99999999999999999999 by size", "newest 5 by color",
            "newest five by size", "newest  5 by size", "newest 5 by path", "newest 5 by size\\nhere",
        ])
    func keep(_ keep: String) {
        #expect(start(rule("a", keep, "true")) != LARDER_OK)
        let message =
            "`rules[1].keep` of \"a\" is not as it has to be: here, away, or newest N by lastModified, lastUsed, name or size"
        #expect("\(fixture.failures) \(fixture.problem ?? "")".contains(message), "\(fixture.failures)")
    }

    @Test("More than fifty rules are refused; fifty are obeyed")
    func most() {
        let rules = (0...50).map { rule("\($0)", $0.isMultiple(of: 2) ? "here" : "away", "name == 'f\($0)'") }
        let all = fixture.start(Self.ours, settings: #"{"rules": [\#(rules.joined(separator: ","))]}"#)
        #expect(all == LARDER_INVALID_ARGUMENT)
        let fifty = fixture.start(Self.ours, settings: #"{"rules": [\#(rules.prefix(50).joined(separator: ","))]}"#)
        #expect(fifty == LARDER_OK)
        fixture.put(.file("/f48"), .file("/f49", here: "user"), .file("/f50"))
        #expect(asked() == (["/f48"], ["/f49"]))
    }

    @Test("A policy of the plugin's kind has no effect, and the log says so")
    func policies() {
        var policy = ItemPolicy.pin(folder: "/a")
        policy.kind = PolicyKind(Self.ours)
        fixture.put(policy)
        start()
        fixture.put(.file("/a/b"))
        #expect(asked() == ([], []))
        #expect(fixture.warnings == ["Rules stand in the config: the policy \(policy.id) has no effect"])
    }

    // MARK: When

    @Test("A scan without news checks only what changed since, until nothing is left to do; time counts as a change")
    func rests() {
        start(rule("all", "here", "name != 'x'"))
        fixture.put(.file("/a"))
        #expect(asked(.itemListUpdateCompletedWithoutChanges).here == ["/a"])
        #expect(asked(.itemListUpdateCompletedWithoutChanges).here == ["/a"])
        fixture.put(.file("/a", here: Self.ours))
        #expect(asked(.itemListUpdateCompletedWithoutChanges) == ([], []))
        fixture.put(.file("/a"))
        for _ in 1...3 {
            #expect(asked(.itemListUpdateCompletedWithoutChanges) == ([], []))
            #expect(fixture.queries == [])
        }
        #expect(asked(.itemsChanged, .file("/a")) == ([], []))
        #expect(asked(.itemListUpdateCompletedWithoutChanges).here == ["/a"])
        fixture.stop()
        start(rule("recent", "here", "lastModified > now - duration('1h')"))
        #expect(asked() == ([], []))
        #expect(asked(.itemListUpdateCompletedWithoutChanges) == ([], []))
        #expect(fixture.queries != [])
    }

    @Test("A claimed copy is tried again with each scan until the claim ends")
    func claimed() {
        start(rule("away", "away", "true"))
        fixture.put(.file("/a", here: "user"), claims: LARDER_CLAIM_READ)
        #expect(asked() == ([], []))
        #expect(asked(.itemListUpdateCompletedWithoutChanges) == ([], []))
        fixture.put(.file("/a", here: "user"), claims: 0)
        #expect(asked(.itemListUpdateCompletedWithoutChanges) == ([], ["/a"]))
    }

    // MARK: Beside the other plugins

    @Test(
        "Expiration and version updates leave alone what rules keep, and no other plugin's copies",
        arguments: [("DownloadExpiration", "download-expiration"), ("VersionUpdates", "version-updates")])
    func others(library: String, name: String) throws {
        let other = try PluginFixture.opening(plugin: library)
        larder_fake_time(other.fake, 1_800_000_000_000_000_000, 0)
        #expect(other.start("org.larder.\(name)") == LARDER_OK)
        for trigger in [Self.ours, "org.example.a"] {
            var copy = Item.file("/\(trigger)", etag: "2", here: trigger, copyEtag: "1")
            copy.lastUsed = Timestamp(seconds: 0)
            other.put(copy)
        }
        other.run(.itemListUpdateCompleted)
        #expect(other.paths(Self.remove) == ["/org.example.a"])
    }
}
