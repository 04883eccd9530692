import Model
import TestSupport
import Testing

@testable import larder

@Suite struct AccountEditTests {
    private static let entry = {
        var entry = AccountEdit.Entry()
        entry.set("name", "work")
        entry.set("url", "https://h/dav")
        entry.set("username", "0")
        entry.set("password", "file", "work.password")
        return entry
    }()
    private static let flow = #"{ name: work, url: https://h/dav, username: "0", password: { file: work.password } }"#
    private static func block(_ indent: String = "  ", _ end: String = "\n") -> String {
        entry.lines(indent).map { $0 + end }.joined()
    }

    @Test("an edit is undone with the reason for it; what somebody else wrote meanwhile stays, and is told")
    func undone() throws {
        try withTemporaryFolder { folder in
            let (path, before, after) = ("\(folder)/config.yaml", "accounts: # mine\n", "poll: 1s\n")
            let reason = Failure(.localIO, "the disk is full", hint: "make room")
            for other in [nil, "poll: 2s\n"] {
                try Files.write(before, to: path, mode: 0o600)
                let edit = AccountRemove.Edit(file: try ConfigFile(path), text: after)
                try edit.apply()
                #expect(try Files.text(path) == after)
                guard let other else {
                    try edit.undo(because: reason)
                    #expect(try Files.text(path) == before)
                    continue
                }
                try Files.write(other, to: path, mode: 0o600)
                let failure = #expect(throws: Failure.self) { try edit.undo(because: reason) }
                #expect(try Files.text(path) == other && failure?.kind == .localIO)
                #expect(
                    failure?.message == "the disk is full; and \(path) has been changed by somebody else meanwhile")
                #expect(failure?.advice?.contains("put it back by hand") == true)
            }
        }
    }

    @Test(
        "an account is added behind the others, and no other byte changes",
        arguments: [
            ("", "accounts:\n\(block())"),
            ("poll: 1s", "poll: 1s\naccounts:\n\(block())"),
            ("accounts:\n", "accounts:\n\(block())"),
            ("accounts: # mine\npoll: 1s\n", "accounts: # mine\n\(block())poll: 1s\n"),
            ("accounts: []\n", "accounts: [ \(flow) ]\n"),
            ("accounts: [{ name: a, url: \"${U}\" }]", "accounts: [ \(flow),{ name: a, url: \"${U}\" }]"),
            ("{ poll: 1s }", "{ accounts: [ \(flow) ], poll: 1s }"),
            (
                "accounts:\n- name: a # one\n  url: https://a # two\n# end\npoll: 1s\n",
                "accounts:\n- name: a # one\n  url: https://a # two\n\(block(""))# end\npoll: 1s\n"
            ),
            ("accounts:\n    - name: a\n      url: u", "accounts:\n    - name: a\n      url: u\n\(block("    "))"),
            ("accounts:\r\n  - name: a\r\n", "accounts:\r\n  - name: a\r\n\(block("  ", "\r\n"))"),
            (
                "accounts:\n  - name: a\n    files: >\n      long\n      text\n",
                "accounts:\n  - name: a\n    files: >\n      long\n      text\n\(block())"
            ),
            (
                "accounts:\n  - { name: a,\n      url: u\n    }\npoll: 1s\n",
                "accounts:\n  - { name: a,\n      url: u\n    }\n\(block())poll: 1s\n"
            ),
        ])
    func adding(before: String, after: String) throws {
        #expect(try AccountEdit.adding(Self.entry, to: before) == after)
    }

    @Test(
        "an account is taken out, and no other byte changes",
        arguments: [
            (0, "accounts:\n  - name: a\n    url: u # x\n  # b's\n  - name: b\n", "accounts:\n  # b's\n  - name: b\n"),
            (
                1, "accounts:\n  - name: a\n  - name: b\n    files: |\n      x\npoll: 1s\n",
                "accounts:\n  - name: a\npoll: 1s\n"
            ),
            (0, "accounts:\n- name: a\npoll: 1s", "accounts:\npoll: 1s"),
            (0, "poll: 1s\naccounts:\n  - name: a", "poll: 1s\naccounts:\n"),
        ])
    func removing(index: Int, before: String, after: String) throws {
        #expect(try AccountEdit.removing(index, from: before) == after)
    }

    @Test(
        "what cannot be changed safely is left alone",
        arguments: ["accounts: [{ name: a }]", "accounts:\n  -\n    name: a\n", "a: &x\n  - name: a\naccounts: *x\n"])
    func refused(text: String) {
        #expect(throws: PluginSwitch.EditError.self) { try AccountEdit.removing(0, from: text) }
    }
}
