import Glibc
import Model
import Testing

@testable import larder

@Suite struct PluginSwitchTests {
    private static let vacuum = PluginID(shortOrFull: "vacuum")

    private func off(_ text: String) throws -> String {
        try PluginSwitch(plugin: Self.vacuum, isEnabled: false).apply(to: text)
    }

    @Test(
        "G2: that a plugin runs inside the host is written in the place of what the config says, or the least is added",
        arguments: [
            ("", "plugins:\n  org.example.a: { enabled: true, library: \"/a.so\", isolation: in-process }\n"),
            (
                "plugins:\n  org.example.a:\n    isolation: process # why\n",
                "plugins:\n  org.example.a:\n    enabled: true\n    isolation: in-process # why\n"
            ),
            (
                "plugins: { org.example.a: { enabled: false } }",
                "plugins: { org.example.a: { isolation: in-process, enabled: true } }"
            ),
            (
                "plugins: { org.example.a: { isolation: in-process, enabled: true } }",
                "plugins: { org.example.a: { isolation: in-process, enabled: true } }"
            ),
        ])
    func isolation(before: String, after: String) throws {
        let change = PluginSwitch(
            plugin: PluginID("org.example.a"), isEnabled: true, isInProcess: true, library: "/a.so")
        #expect(try change.apply(to: before) == after)
    }

    @Test(
        "G2: only the value's bytes change, or the least is added",
        arguments: [
            ("plugins: { vacuum: { enabled: true } }", "plugins: { vacuum: { enabled: false } }"),
            (
                "plugins:\n  vacuum:\n    after: 1m # keep\n    enabled:   true   # why\n",
                "plugins:\n  vacuum:\n    after: 1m # keep\n    enabled:   false   # why\n"
            ),
            ("plugins:\n  vacuum:\n    after: 1m\n", "plugins:\n  vacuum:\n    enabled: false\n    after: 1m\n"),
            ("plugins:\n  vacuum: { after: 1m }\n", "plugins:\n  vacuum: { enabled: false, after: 1m }\n"),
            ("plugins:\n  vacuum: {}\n", "plugins:\n  vacuum: { enabled: false }\n"),
            ("plugins:\n  vacuum: { }\n", "plugins:\n  vacuum: { enabled: false }\n"),
            ("plugins:\n  vacuum: # later\n", "plugins:\n  vacuum: { enabled: false } # later\n"),
            ("plugins:\n  vacuum: ~\n", "plugins:\n  vacuum: { enabled: false }\n"),
            ("plugins:\n  \"vacuum\":\n", "plugins:\n  \"vacuum\": { enabled: false }\n"),
            ("plugins:\n  paths: [a]\n", "plugins:\n  vacuum: { enabled: false }\n  paths: [a]\n"),
            ("plugins: {paths: [a]}", "plugins: { vacuum: { enabled: false },paths: [a]}"),
            ("plugins:\npoll: 1s\n", "plugins: { vacuum: { enabled: false } }\npoll: 1s\n"),
            ("poll: 1s", "poll: 1s\nplugins:\n  vacuum: { enabled: false }\n"),
            ("{ poll: 1s }", "{ plugins: { vacuum: { enabled: false } }, poll: 1s }"),
            ("", "plugins:\n  vacuum: { enabled: false }\n"),
            ("plugins:\r\n  vacuum:\r\n    enabled: true\r\n", "plugins:\r\n  vacuum:\r\n    enabled: false\r\n"),
            (
                "plugins:\r\n  vacuum:\r\n    after: 1m\r\n",
                "plugins:\r\n  vacuum:\r\n    enabled: false\r\n    after: 1m\r\n"
            ),
            (
                "# ü é 😀\nplugins: { org.larder.vacuum: { \"é\": 😀, enabled: true } }",
                "# ü é 😀\nplugins: { org.larder.vacuum: { \"é\": 😀, enabled: false } }"
            ),
            (
                "\u{feff}plugins:\n  vacuum: { enabled: true }\npoll: 1s\n",
                "\u{feff}plugins:\n  vacuum: { enabled: false }\npoll: 1s\n"
            ),
            ("\u{feff}poll: 1s\n", "\u{feff}poll: 1s\nplugins:\n  vacuum: { enabled: false }\n"),
            ("\u{feff}plugins: { vacuum: { enabled: true } }", "\u{feff}plugins: { vacuum: { enabled: false } }"),
            ("plugins: { vacuum: { enabled: false } } # ${HOME}", "plugins: { vacuum: { enabled: false } } # ${HOME}"),
            (
                "plugins:\n  vacuum:\n    enabled:\n      # odd\n      true\n",
                "plugins:\n  vacuum:\n    enabled:\n      # odd\n      false\n"
            ),
            (
                "plugins: { available-offline: { enabled: true } }",
                "plugins: { vacuum: { enabled: false }, available-offline: { enabled: true } }"
            ),
        ])
    func edits(before: String, after: String) throws {
        #expect(try off(before) == after)
    }

    @Test(
        "G2: what cannot be changed safely is left alone",
        arguments: [
            "a: &x true\nplugins: { vacuum: { enabled: *x } }",
            "a: &x { enabled: true }\nplugins: { vacuum: *x }",
            "plugins: { vacuum: { enabled: &x true }, b: *x }",
            "plugins: { vacuum: { enabled: \"true\" } }",
            "plugins: { vacuum: { enabled: yes } }",
            "plugins: { vacuum: [] }", "plugins: 3", "poll: 1s\n...\n", "a: [", "- x\n",
            "plugins: { vacuum: { enabled: true, enabled: true } }", "plugins:\n  ? vacuum\n",
        ])
    func refusals(text: String) {
        #expect(throws: PluginSwitch.EditError.self) { _ = try off(text) }
    }

    @Test("G2: a plugin that the config does not name yet is named with its library")
    func library() throws {
        let id = PluginID("org.example.archive")
        let change = PluginSwitch(plugin: id, isEnabled: true, library: "/opt/a \"b\".so")
        #expect(
            try change.apply(to: "poll: 1s\n")
                == "poll: 1s\nplugins:\n  org.example.archive: { enabled: true, library: \"/opt/a \\\"b\\\".so\" }\n")
        // A plugin that the config names keeps its own library.
        let named = "plugins: { org.example.archive: { library: x.so } }"
        #expect(
            try change.apply(to: named) == "plugins: { org.example.archive: { enabled: true, library: x.so } }")
    }

    @Test("G2: the file is replaced whole, through a symbolic link, with its mode")
    func file() throws {
        let folder = TemporaryFolder()
        try folder.write("poll: 1s\n", to: "real.yaml", mode: 0o640)
        symlink("real.yaml", folder.path + "/link.yaml")
        try ConfigFile(folder.path + "/link.yaml").replace(with: "poll: 2s\n")
        #expect(try ConfigFile(folder.path + "/real.yaml").text == "poll: 2s\n")
        var status = stat()
        lstat(folder.path + "/link.yaml", &status)
        #expect(status.st_mode & S_IFMT == S_IFLNK)
        stat(folder.path + "/real.yaml", &status)
        #expect(status.st_mode & 0o777 == 0o640)
    }

    @Test("G2: a file that someone changed meanwhile is not overwritten")
    func race() throws {
        let folder = TemporaryFolder()
        try folder.write("poll: 1s\n", to: "c.yaml")
        let file = try ConfigFile(folder.path + "/c.yaml")
        try folder.write("poll: 10s\n", to: "c.yaml")
        #expect(throws: Failure.self) { try file.replace(with: "x") }
        #expect(try ConfigFile(folder.path + "/c.yaml").text == "poll: 10s\n")
    }
}
