import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests of changes of the server, with plugins and hosts of both versions of the ABI.
@Suite struct ServerChangesTests {
    private func script(_ folder: String, _ lines: String...) throws -> String {
        try Files.write(lines.map { $0 + "\n" }.joined(), to: "\(folder)/script")
        return #"{"script": "\#(folder)/script", "triggers": "2"}"#
    }

    private func said(_ folder: String) throws -> [String] {
        try Files.text("\(folder)/script.out").split(separator: "\n").map(String.init)
    }

    @Test("G12: a plugin that was built with the headers of ABI 1.0 asks a fake host of today for what it knows")
    func oldPlugin() async throws {
        try await withTemporaryFolder { folder in
            try CompiledPlugin.writeFirstHeaders(into: folder)
            try await CompiledPlugin.build("wilful", to: "\(folder)/wilful.so", headers: folder)
            let fixture = try PluginFixture(library: "\(folder)/wilful.so")
            fixture.put(.file("/a"))
            #expect(fixture.start("org.example.wilful", settings: #"{"match": "true"}"#) == LARDER_OK)
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            // The plugin asks for a service that it does not declare.
            #expect(fixture.actions.map(\.name) == ["download"] && fixture.mistakes == ["extension -6"])
        }
    }

    @Test("G12 G20: a plugin of today sees that a host of ABI 1.0 changes nothing on the server, and goes on")
    func oldHost() async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("changer", to: "\(folder)/changer.so")
            try await CompiledPlugin.build(
                "old-host", to: "\(folder)/old.so", defines: ["OPENED=\"\(folder)/changer.so\""])
            let fixture = try PluginFixture(library: "\(folder)/old.so")
            larder_fake_grant(fixture.fake, "server-changes")
            let settings = try script(folder, "move /a /b 1")
            #expect(fixture.start("org.example.changer", settings: settings) == LARDER_OK, "\(fixture.problem ?? "")")
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(try said(folder) == ["move is not there"])
        }
    }

    @Test("G20 G22: the fake host refuses the changes that the host refuses, and notes the others")
    func fakeHost() async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("changer", to: "\(folder)/changer.so")
            let fixture = try PluginFixture(library: "\(folder)/changer.so")
            fixture.put(.file("/a"))
            // The plugin's own query is no condition of the processor.
            let lines = [
                "mkdir /new - 1", "move /a /b 2", "copy /a /c 3", "delete /a - 4", "favorite /a 1 5",
                "write list.csv text", "upload list.csv /d 6 1", "mkdir new - 7", "move /none /b 8", "move /a b 9",
                "favorite /a 2 10", "delete /a - -", "copy /a /c 11 1", "upload none /d 12", "upload ../x /d 13",
                "link link list.csv", "upload link /d 14", "upload . /d 15", "upload-of-none list.csv /d 16",
                "upload list.csv d 17", "upload list.csv /d 18 2",
            ]
            try Files.write(lines.map { $0 + "\n" }.joined(), to: "\(folder)/script")
            let settings = #"{"script": "\#(folder)/script", "triggers": "2"}"#
            #expect(fixture.start("org.example.changer", settings: settings) == LARDER_OK, "\(fixture.problem ?? "")")
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            let denied = try said(folder)
            #expect(denied.allSatisfy { $0.hasSuffix(" -6") || $0.hasSuffix(" 0") } && fixture.actions.isEmpty)
            #expect(fixture.mistakes == [])
            larder_fake_grant(fixture.fake, "server-changes")
            Files.remove("\(folder)/script.out")
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(
                try said(folder).map { $0.split(separator: " ").last.map(String.init) } == [
                    "0", "0", "0", "0", "0", "0", "0", "-2", "-3", "-2", "-2", "-2", "-2", "-3", "-2", "-1", "-6", "-2",
                    "-3", "-2", "-2",
                ])
            #expect(
                fixture.actions.map { [$0.name, $0.path, "\($0.flags)", $0.key].joined(separator: " ") } == [
                    "create_folder  0 1", "move /a 0 2", "copy /a 0 3", "remove_from_server /a 0 4",
                    "set_favorite /a 1 5", "upload list.csv 1 6",
                ])
            #expect(fixture.targets == ["/new", "/b", "/c", "/d"])
        }
    }
}
