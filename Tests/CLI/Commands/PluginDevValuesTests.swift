import Model
import TestSupport
import Testing

@testable import larder

/// Tests of the values behind `larder plugin dev`.
@Suite struct PluginDevValuesTests {
    @Test("What counts as saved is what is in the folder, without what a build leaves and hidden files")
    func sources() throws {
        try withTemporaryFolder { folder in
            for path in ["a.c", "src/out/b.c", "src/.c.swp", ".git/x", "out/a.so", "target/x", "build", "Cargo.lock"] {
                try Files.write("x", to: "\(folder)/\(path)")
            }
            let before = SourceFiles(in: folder)
            #expect(before.stamps.keys.sorted() == ["a.c", "build", "src/out/b.c"])
            #expect(SourceFiles(in: folder) == before)
            try Files.write("", to: "\(folder)/src/d.c")
            try Files.write("xy", to: "\(folder)/a.c")
            Files.remove("\(folder)/src/out/b.c")
            #expect(SourceFiles(in: folder).changes(since: before) == ["a.c", "src/d.c", "src/out/b.c"])
        }
    }

    @Test("Files that change in many builds in a row, and no others, are the build's own")
    func ownFiles() {
        var changes = BuildChanges()
        let most = BuildChanges.most
        func areByBuild(_ changed: [String], times: Int) -> Bool {
            (0..<times).reduce(false) { _, _ in changes.areByBuild(changed) }
        }
        let found = [
            areByBuild(["a"], times: most - 1), areByBuild([], times: 1), areByBuild(["a"], times: most - 1),
            areByBuild(["a", "b"], times: most - 1), areByBuild(["a"], times: most - 1), areByBuild(["a"], times: 1),
        ]
        #expect(found == [false, false, false, false, false, true])
    }

    @Test("Of a host's lines those about the plugin are shown, with the calls in which something happens")
    func lines() {
        let lines = DevLines(isJSON: false)
        lines.begin(with: [PluginID("org.example.x")])
        func call(_ name: String, _ more: String, plugin: String = "org.example.x", path: String? = nil) -> String {
            #"{"seq":1,"plugin":"\#(plugin)","call":"\#(name)","trigger":"itemsChanged","path":\#(path.map { "\"\($0)\"" } ?? "null"),"loop":null,\#(more)}"#
        }
        func log(_ level: String, _ message: String, plugin: String? = nil) -> String {
            #"{"time":"","level":"\#(level)","message":"\#(message)","fields":{\#(plugin.map { "\"plugin\":\"\($0)\"" } ?? "")}}"#
        }
        let begin = #""phase":"begin""#
        let given = [
            log("info", "The account is online"), log("info", "here", plugin: "org.larder.vacuum"),
            call("performAction", begin, plugin: "org.larder.vacuum", path: "/a"),
            call("willEnterTrigger", begin), call("willEnterTrigger", #""status":"ok""#),
            call("matchCondition", begin),
            call("matchCondition", #""phase":"condition","what":"match","text":"removed""#),
            call("matchCondition", #""phase":"condition","what":"match","text":"removed""#),
            call("performAction", begin, path: "/a"),
            call("performAction", #""phase":"asked","what":"download","text":"/a""#, path: "/a"),
            log("info", "hello", plugin: "org.example.x"),
            call("performAction", #""phase":"message","what":"info","text":"hello""#),
            call("performAction", #""status":"failed""#, path: "/a"), "printed\u{1b}[2J", "",
            log("error", "The plugin org.example.x is refused: why"), log("error", "The disk is full"),
            log("info", "bye", plugin: "org.example.x"),
        ]
        #expect(
            given.map(lines.text).joined() == """
                org.example.x
                  matchCondition (itemsChanged)
                    match: removed
                  performAction /a (itemsChanged)
                    asks: download /a
                    info: hello
                    returned failed
                printed\\u001b[2J
                error: The plugin org.example.x is refused: why
                error: The disk is full
                org.example.x
                    info: bye

                """)
    }
}
