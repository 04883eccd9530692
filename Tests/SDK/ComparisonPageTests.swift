import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests that build the plugins of the pages for authors who know the ownCloud SDK's item policies or Proton's events
/// loop, and run them. They cover all of these pages' blocks in Swift.
@Suite struct ComparisonPageTests {
    private static let pages = ["from-ocitempolicyprocessor", "from-eventsloop"]

    @Test("A page of comparison has one plugin, which a test runs", arguments: pages)
    func all(page: String) throws {
        let page = try Guide(page)
        #expect(page.blocks("swift").count == 1)
        #expect(["c", "cpp", "rust", "yaml"].allSatisfy { page.blocks($0).isEmpty })
    }

    /// Builds the plugin of a page.
    private func build(
        _ page: String, with word: String, module: String, in folder: String
    ) async throws -> PluginFixture {
        let library = "\(folder)/lib\(module).so"
        try Files.write(try Guide(page).block("swift", with: word), to: "\(folder)/plugin.swift")
        try await CompiledPlugin.buildSwift("\(folder)/plugin.swift", module: module, to: library)
        return try PluginFixture(library: library)
    }

    @Test("The reading list keeps the PDF files of its policies' folders here, and lets its other copies go")
    func readingList() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try await build(Self.pages[0], with: "ReadingList", module: "ReadingList", in: folder)
            let mine = "org.example.reading-list"
            #expect(fixture.start(mine) == LARDER_OK)
            fixture.put(
                .folder("/Books"), .folder("/Books/new"), .file("/Books/new/a.pdf"), .file("/Books/notes.txt"),
                .file("/b.pdf"), .file("/Books/current.pdf", here: mine),
                .file("/Books/stale.pdf", etag: "2", here: mine, copyEtag: "1"), .file("/old.pdf", here: mine),
                .file("/theirs.pdf", here: "user"))
            // Without a policy the plugin's own copies go.
            #expect(fixture.run(.policiesChanged) == LARDER_OK)
            #expect(fixture.paths("download") == [])
            #expect(fixture.paths("remove_local_copy") == ["/Books/current.pdf", "/Books/stale.pdf", "/old.pdf"])
            fixture.forget()

            let condition = #"path == "/Books" || path.startsWith("/Books/")"#
            fixture.put(ItemPolicy(kind: PolicyKind("readingList"), condition: condition))
            #expect(fixture.run(.policiesChanged) == LARDER_OK)
            #expect(fixture.paths("download") == ["/Books/new/a.pdf", "/Books/stale.pdf"])
            #expect(fixture.paths("remove_local_copy") == ["/old.pdf"])
            let downloads = fixture.actions.filter { $0.name == "download" }
            #expect(downloads.allSatisfy { $0.flags == LARDER_DOWNLOAD_WHILE_COVERED })
            #expect(fixture.policies.map(\.path?.text) == ["/Books"])
            #expect(fixture.policies.map(\.localID?.text) == ["id of /Books"])
            #expect(fixture.policyChanges == [LARDER_POLICY_QUIET])
            #expect(fixture.mistakes == [] && fixture.failures == [])
        }
    }

    @Test("The reading list's policy follows its folder, and a condition that somebody else wrote stays")
    func movedFolder() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try await build(Self.pages[0], with: "ReadingList", module: "MovedList", in: folder)
            #expect(fixture.start("org.example.reading-list") == LARDER_OK)
            let kind = PolicyKind("readingList")
            let id = LocalID("id of /Books")
            fixture.put(
                ItemPolicy(
                    kind: kind, condition: #"path == "/Books" || path.startsWith("/Books/")"#,
                    path: ItemPath(unchecked: "/Books"), localID: id),
                ItemPolicy(
                    kind: kind, condition: #"path.startsWith("/Books/2026/")"#, path: ItemPath(unchecked: "/Books"),
                    localID: id))
            let moved = Item.folder("/Library", id: "id of /Books")
            fixture.put(moved, .file("/Library/a.pdf"))
            #expect(fixture.run(.itemsChanged, moved, .file("/Library/a.pdf")) == LARDER_OK)
            #expect(
                fixture.policies.map(\.condition) == [
                    #"path == "/Library" || path.startsWith("/Library/")"#, #"path.startsWith("/Books/2026/")"#,
                ])
            #expect(fixture.paths("download") == ["/Library/a.pdf"] && fixture.mistakes == [])
        }
    }

    @Test(
        "The contacts loop commits pages with their event ids, refreshes for contacts alone, and an error is no absence"
    )
    func contacts() async throws {
        try await withTemporaryFolder { folder in
            let fixture = try await build(Self.pages[1], with: "ContactsPlugin", module: "Contacts", in: folder)
            let id = "org.example.contacts"
            #expect(fixture.start(id) == LARDER_OK)
            func answer(_ target: String, _ body: String, status: UInt32 = 200) {
                larder_fake_answer(fixture.fake, "GET", "/events/\(target)", status, body)
            }
            func keys() -> [String] { fixture.records(in: id).map(\.key) }
            func list(_ ids: String...) {
                let contacts = ids.map { #"{"ID": "\#($0)"}"# }.joined(separator: ", ")
                answer("contacts/v4", #"{"Code": 1000, "Contacts": [\#(contacts)], "More": 0}"#)
            }
            // There is no event id yet.
            answer("core/v4/events/latest", #"{"Code": 1000, "EventID": "1"}"#)
            list("a", "b")
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "1" && keys() == ["a", "b"])
            // Bit 1 is about mail.
            answer(
                "core/v5/events/1",
                """
                {"Code": 1000, "EventID": "2", "Refresh": 1, "More": 1, "Contacts": [{"ID": "b", "Action": 0}, \
                {"ID": "c", "Action": 1, "Contact": {"Name": "Cy"}}]}
                """)
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "2" && keys() == ["a", "c"])
            #expect(larder_fake_has_more(fixture.fake) == 1)
            #expect(fixture.record("c", in: id)?.value == #"{"Name":"Cy"}"#)
            answer("core/v5/events/2", "", status: 500)
            #expect(fixture.poll(id) == LARDER_IO && fixture.eventID(of: id) == "2" && keys() == ["a", "c"])
            // Bit 2 is about contacts.
            answer("core/v5/events/2", #"{"Code": 1000, "EventID": "3", "Refresh": 3, "More": 0}"#)
            answer("core/v4/events/latest", #"{"Code": 1000, "EventID": "9"}"#)
            list("c", "d")
            #expect(fixture.poll(id) == LARDER_OK && fixture.eventID(of: id) == "9" && keys() == ["c", "d"])
            // The server has forgotten the event id, and has no listing.
            answer("core/v5/events/9", #"{"Code": 2061}"#, status: 422)
            answer("core/v4/events/latest", #"{"Code": 1000, "EventID": "10"}"#)
            answer("contacts/v4", "", status: 404)
            #expect(fixture.poll(id) == LARDER_FAILED && fixture.eventID(of: id) == "9" && keys() == ["c", "d"])
            #expect(fixture.mistakes == [])
        }
    }
}
