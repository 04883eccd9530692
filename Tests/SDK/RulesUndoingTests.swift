import CLarder
import LarderFakeHost
import Model
import Testing

/// Tests of rules that depend on whether a file is here, and of what the plugin for rules says of files.
@Suite struct RulesUndoingTests {
    let fixture: PluginFixture
    private let ours = "org.larder.rules"

    init() throws { fixture = try PluginFixture.opening(plugin: "Rules") }

    private func start(_ rules: (name: String, keep: String, match: String)..., unless: String? = nil) throws {
        let texts = rules.map { rule in
            let exception = unless.map { #", "unless": "\#($0)""# } ?? ""
            return #"{"name": "\#(rule.name)", "keep": "\#(rule.keep)", "match": "\#(rule.match)"\#(exception)}"#
        }
        larder_fake_time(fixture.fake, 1_800_000_000_000_000_000, 0)
        let status = fixture.start(ours, settings: #"{"rules": [\#(texts.joined(separator: ", "))]}"#)
        try #require(status == LARDER_OK, "\(fixture.problem ?? "")")
    }

    /// Makes runs as long as they ask for something, and does what they ask for.
    /// - Returns: The number of runs that asked for something.
    private func settle() -> Int {
        for round in 0..<5 {
            fixture.forget()
            fixture.run(.itemListUpdateCompleted)
            #expect(fixture.mistakes == [] && fixture.failures == [])
            if fixture.actions.isEmpty { return round }
            for path in fixture.paths("download") { fixture.put(.file(path, here: ours)) }
            for path in fixture.paths("remove_local_copy") { fixture.put(.file(path)) }
        }
        return 5
    }

    private let text = "Rules undo each other, so nothing is done about /a and others like it: "

    @Test(
        "Rules that undo each other are named, and not obeyed in turns",
        arguments: [
            ([("a", "here", "cloudStatus == 'cloudOnly'")], nil, #"once it is here, the rule "a" is not for it"#),
            (
                [("a", "here", "downloadTrigger != 'org.larder.rules'")], nil,
                #"once it is here, the rule "a" is not for it"#
            ),
            ([("a", "here", "downloadTrigger == 'user'")], "user", #"once it is here, the rule "a" is not for it"#),
            (
                [("a", "away", "cloudStatus == 'localCopy'"), ("b", "here", "true")], "user",
                #"once it is away, the rule "b" brings it back"#
            ),
            (
                [("a", "away", "cloudStatus == 'localCopy'"), ("b", "here", "true")], nil,
                #"once it is here, the rule "a" decides, and not "b""#
            ),
            (
                [("a", "here", "cloudStatus == 'cloudOnly'")], "org.larder.rules",
                #"once it is away, the rule "a" brings it back"#
            ),
            (
                [("a", "away", "cloudStatus == r'localCopy' && lastUsed == null"), ("b", "here", "true")], "user",
                #"once it is away, the rule "b" brings it back"#
            ),
            (
                [("a", "away", "cloudStatus == 'localCopy'"), ("b", "newest 3 by name", "true")], nil,
                #"once it is here, the rule "a" decides, and not "b""#
            ),
            (
                [("a", "newest 3 by name", "cloudStatus == 'cloudOnly'"), ("b", "away", "true")], nil,
                #"once it is here, the rule "b" decides, and not "a""#
            ),
            (
                [("a", "newest 3 by name", "!downloadTrigger.startsWith('org')"), ("b", "newest 2 by size", "true")],
                nil, #"once it is here, the rule "b" decides, and not "a""#
            ),
        ] as [([(String, String, String)], String?, String)])
    func undoing(rules: [(String, String, String)], here: String?, why: String) throws {
        let texts = rules.map { #"{"name": "\#($0.0)", "keep": "\#($0.1)", "match": "\#($0.2)"}"# }
        larder_fake_time(fixture.fake, 1_800_000_000_000_000_000, 0)
        #expect(fixture.start(ours, settings: #"{"rules": [\#(texts.joined(separator: ", "))]}"#) == LARDER_OK)
        fixture.put(.file("/a", here: here))
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.warnings == [text + why])
        #expect(fixture.actions == [] && fixture.mistakes == [])
        #expect(fixture.explanation(of: .file("/a"))?.hasSuffix("; nothing is done, because \(why)") == true)
        // The next run does not say it again.
        fixture.forget()
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.actions == [] && fixture.warnings == [])
    }

    @Test(
        "Rules that depend on whether a file is here without undoing each other are obeyed, and come to rest",
        arguments: [
            ([("a", "away", "cloudStatus == 'localCopy'")], "user", 1),
            ([("a", "here", "cloudStatus == 'localCopy'")], "user", 1),
            ([("a", "here", "cloudStatus == 'cloudOnly' || downloadTrigger == 'org.larder.rules'")], nil, 1),
            ([("a", "here", "remoteVersion != 'newer'")], nil, 1),
            ([("a", "newest 1 by name", "cloudStatus == 'localCopy'")], "user", 1),
            ([("a", "here", "!('downloading' in syncActivity)")], nil, 1),
            ([("a", "here", "name != 'cloudStatus == \\\"x' && name != r'\\\\'")], nil, 1),
            ([("a", "away", "lastUsed < now - duration('720h')"), ("b", "here", "true")], nil, 1),
        ] as [([(String, String, String)], String?, Int)])
    func obeyed(rules: [(String, String, String)], here: String?, rounds: Int) throws {
        let texts = rules.map { #"{"name": "\#($0.0)", "keep": "\#($0.1)", "match": "\#($0.2)"}"# }
        larder_fake_time(fixture.fake, 1_800_000_000_000_000_000, 0)
        #expect(fixture.start(ours, settings: #"{"rules": [\#(texts.joined(separator: ", "))]}"#) == LARDER_OK)
        fixture.put(.file("/a", here: here))
        #expect(settle() == rounds)
        #expect(fixture.warnings == [])
    }

    @Test("Keeping here what is away, but not what is unused for long, is not obeyed once a month in turns")
    func unused() throws {
        try start(
            ("unused", "away", "cloudStatus == 'localCopy' && lastUsed < now - duration('720h')"),
            ("music", "here", "true"))
        var old = Item.file("/a", here: ours)
        old.lastUsed = Timestamp(seconds: 0)
        fixture.put(old)
        fixture.run(.itemListUpdateCompleted)
        #expect(fixture.actions == [])
        #expect(fixture.warnings == [text + #"once it is away, the rule "music" brings it back"#])
    }

    // MARK: Explaining

    @Test("The rule and the term that decided are named")
    func terms() throws {
        try start(
            ("music", "here", "path.startsWith('/M/') ||\\n name == 'x || y' || (size > 5 || size < 3)"),
            ("big", "away", "name == 'big' || name == 'large'"), unless: "name == 'no' || name == 'never'")
        for (path, said) in [
            ("/M/a", #"the rule "music" keeps it here, because path.startsWith('/M/')"#),
            ("/x || y", #"the rule "music" keeps it here, because name == 'x || y'"#),
            ("/large", #"the rule "big" keeps it away, because name == 'large'"#),
            ("/M/never", #"no rule is for it: the rule "music" leaves it out, because name == 'never'"#),
            ("/other", "no rule is for it"),
        ] as [(String, String?)] {
            fixture.put(.file(path))
            fixture.run(.itemListUpdateCompleted)
            #expect(fixture.explanation(of: .file(path)) == said)
        }
        fixture.put(.folder("/M"))
        #expect(fixture.explanation(of: .folder("/M")) == nil)
        fixture.put(.file("/M/gone", removed: true))
        #expect(fixture.explanation(of: .file("/M/gone")) == nil)
        #expect(fixture.mistakes == [])
    }

    @Test("Of a file among the newest its place in the folder is told")
    func places() throws {
        try start(("podcasts", "newest 2 by name", "path.startsWith('/P/')"))
        fixture.put(.file("/P/1"), .file("/P/2"), .file("/P/3"), .file("/P/x/1"))
        fixture.run(.itemListUpdateCompleted)
        func said(_ side: String, _ place: Int) -> String {
            #"the rule "podcasts" keeps it \#(side), as number \#(place) by name in /P, where it keeps 2 here, "#
                + "because path.startsWith('/P/')"
        }
        #expect(fixture.explanation(of: .file("/P/3")) == said("here", 1))
        #expect(fixture.explanation(of: .file("/P/1")) == said("away", 3))
    }

    @Test("What comes before a rule is told beside it")
    func before() throws {
        fixture.put(ItemPolicy.pin(folder: "/pinned"))
        try start(("away", "away", "true"))
        let rule = #"the rule "away" keeps it away, because true"#
        for (item, claims, why) in [
            (.file("/pinned/a", here: "availableOffline"), 0, "; a pin comes before the rules"),
            (
                .file("/changed", here: "user", status: .locallyModified), 0,
                "; it stays, since only this machine has it as it is"
            ),
            (.file("/claimed", here: "user"), LARDER_CLAIM_READ, "; it stays until the claim on it ends"),
            (.file("/free", here: "user"), 0, ""),
        ] as [(Item, UInt32, String)] {
            fixture.put(item, claims: claims)
            fixture.run(.itemListUpdateCompleted)
            #expect(fixture.explanation(of: item) == rule + why)
        }
    }
}
