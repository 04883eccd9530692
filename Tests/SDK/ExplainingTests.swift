import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests of what processors say of items, in a fake host.
@Suite struct ExplainingTests {
    private func withTalker(
        says: String, defines: [String] = [], _ body: (PluginFixture) throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("talker", to: "\(folder)/talker.so", defines: defines)
            let fixture = try PluginFixture(library: "\(folder)/talker.so")
            let status = fixture.start("org.example.talker", settings: #"{"says": "\#(says)", "triggers": "2"}"#)
            try #require(status == LARDER_OK, "\(fixture.problem ?? "")")
            fixture.put(.file("/a"))
            try body(fixture)
        }
    }

    @Test(
        "P54: the fake host tells what a processor says of an item, as the host does",
        arguments: [
            ("it waits", "it waits", LARDER_OK), ("absent", nil, LARDER_OK), ("empty", nil, LARDER_OK),
            ("huge", "xx" + String(repeating: "€", count: 340) + "…", LARDER_OK), ("failure", nil, LARDER_FAILED),
            ("bad", nil, LARDER_INVALID_ARGUMENT), ("huge and bad", nil, LARDER_INVALID_ARGUMENT), ("unknown", nil, 42),
        ])
    func fake(says: String, told: String?, status: larder_status) async throws {
        try await withTalker(says: says) { fixture in
            #expect(fixture.explanation(of: .file("/a")) == told)
            #expect(fixture.calls == ["explain /a"])
            #expect(fixture.entries(LARDER_FAKE_CALL, \.status) == [status])
            let isMistake = status == 42 || status == LARDER_INVALID_ARGUMENT
            #expect(fixture.mistakes == (isMistake ? ["explain \(status)"] : []))
        }
    }

    @Test("P54: a processor in a fake host says what its last run found, and nothing of an item that is not there")
    func state() async throws {
        try await withTalker(says: "state") { fixture in
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(fixture.explanation(of: .file("/a")) == "/a 0: 0 policies, 1 performed, 1 passed, 0")
            #expect(fixture.explanation(of: .file("/b")) == nil)
        }
        try await withTalker(says: "silent", defines: ["SILENT=1"]) { fixture in
            #expect(fixture.explanation(of: .file("/a")) == nil && fixture.calls == [])
        }
    }

    @Test("P54, G6: the fake host refuses the same in this call as the host, and notes each as a mistake")
    func refused() async throws {
        try await withTalker(says: "writes") { fixture in
            #expect(fixture.explanation(of: .file("/a")) == "19 of 19 refused")
            #expect(fixture.mistakes.count == 19 && fixture.mistakes.allSatisfy { $0.hasSuffix(" -12") })
            #expect(fixture.actions == [] && fixture.policies == [] && fixture.value(of: "k") == nil)
        }
        try await withTalker(says: "reads") { fixture in
            // The fake host knows no conditions but those that the test evaluates.
            let absent = LARDER_NOT_FOUND
            let said = "1 files 0, policies 0 0, kv \(absent), usage 0, records \(absent), projects 0"
            #expect(fixture.explanation(of: .file("/a")) == said)
            #expect(fixture.mistakes == [])
        }
    }

    @Test("P54, P43: version updates says why it leaves an outdated copy alone, and nothing of others")
    func versionUpdates() throws {
        let fixture = try PluginFixture.opening(plugin: "VersionUpdates")
        #expect(fixture.start("org.larder.version-updates") == LARDER_OK)
        let outdated = Item.file("/a", etag: "2", here: "user", copyEtag: "1")
        let claimed = "it is claimed for writing or deleting, and stays as it is until the claim ends"
        for (claims, told) in [
            (0, nil), (LARDER_CLAIM_READ, nil), (LARDER_CLAIM_WRITE, claimed),
            (LARDER_CLAIM_READ | LARDER_CLAIM_DELETE, claimed),
        ] as [(UInt32, String?)] {
            fixture.put(outdated, claims: claims)
            fixture.forget()
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(fixture.explanation(of: outdated) == told)
            #expect(fixture.actions.isEmpty == (told != nil))
        }
        let current = Item.file("/b", here: "user")
        fixture.put(current, claims: LARDER_CLAIM_WRITE)
        #expect(fixture.explanation(of: current) == nil)
        #expect(fixture.mistakes == [])
    }
}
