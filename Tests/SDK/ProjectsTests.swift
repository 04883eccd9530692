import CLarder
import LarderFakeHost
import LarderSDK
import TestSupport
import Testing

/// A processor that works on projects and logs the results. Its setting names the steps, one word for each.
struct Drafter: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.example.drafter", name: "Drafter", version: "1", required: [.projects, .config], wanted: [.log])
    static let kind = "drafter"
    static let fields: ItemFields = []
    static let settingsSchema: String? = #"{"properties": {"do": {"type": "string", "default": ""}}}"#

    let projects: Host.Projects
    let log: Host.Log?
    let words: [String]
    var project = ""

    init(host: Host) throws(PluginError) {
        projects = try host.require(host.projects, .projects)
        log = host.log
        words = try host.settings()["do"]?.string?.split(separator: " ").map(String.init) ?? []
        if let newest = try projects.list().first { project = newest }
    }

    var triggers: TriggerSet { [.policiesChanged] }

    mutating func didPass(_ trigger: Trigger) throws(PluginError) {
        for word in words { try perform(word) }
    }

    private mutating func perform(_ word: String) throws(PluginError) {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        let rest = parts.count > 1 ? parts[1] : ""
        switch parts[0] {
        case "create": project = try projects.create()
        case "add": try projects.addStep(ProjectStepContent(userData: Array(rest.utf8)), to: project)
        case "whole":
            try projects.addStep(ProjectStepContent(), to: project, userData: Array(rest.utf8))
        case "assets":
            try projects.addStep(ProjectStepContent(assetsSource: rest), to: project)
        case "many":
            let steps = rest.map { ProjectStepContent(userData: Array(String($0).utf8)) }
            let ids = try projects.update(project, ProjectUpdate(stepsToAdd: steps))
            log?.info("added \(ids.count)")
        case "back-to":
            let found = try projects.project(project, .stepIDs)
            let update = ProjectUpdate(
                cursor: Int(rest), stepsToDelete: (found?.stepIDs?.prefix(1)).map(Array.init) ?? [],
                userData: Array("kept".utf8), ifModified: found?.modified)
            try projects.update(project, update)
        case "cursor": try projects.update(project, ProjectUpdate(cursor: Int(rest)))
        case "if": try projects.update(project, ProjectUpdate(userData: [], ifModified: Int64(rest)))
        case "stale": try projects.update(project, ProjectUpdate(userData: [], ifModified: 1))
        case "undo": log?.info("undo \(try projects.undo(project))")
        case "redo": log?.info("redo \(try projects.redo(project))")
        case "duplicate": project = try projects.duplicate(project)
        case "remove": log?.info("remove \(try projects.remove(project))")
        case "list":
            log?.info("list \(try projects.list(.oldestFirst).count) \(try projects.list(.byModification).count)")
        case "usage":
            let usage = try projects.usage()
            log?.info("usage \(usage.bytes) of \(usage.quota)")
        case "fail": throw PluginError(.failed, "as it was told to")
        default:
            guard let found = try projects.project(project) else {
                log?.info("no project")
                return
            }
            var steps: [String] = []
            for id in found.stepIDs ?? [] {
                steps.append(String(decoding: try projects.step(id, of: project)?.userData ?? [], as: UTF8.self))
            }
            let current = try found.currentStepID.flatMap { id throws(PluginError) in try projects.step(id, of: project)
            }
            let userData = String(decoding: found.userData ?? [], as: UTF8.self)
            log?.info(
                "\(found.cursor)/\(found.stepCount) \(steps.joined(separator: ",")) "
                    + "data '\(userData)' \(found.canUndo) \(found.canRedo) "
                    + "current \(String(decoding: current?.userData ?? [], as: UTF8.self))")
        }
    }
}

/// Tests of projects through the SDK, on the fake host.
@Suite struct ProjectsTests {
    let fixture: PluginFixture

    init() throws {
        fixture = try PluginFixture(entry: { _, out in export(Sampler.self, Drafter.self, loops: Sampling.self, to: out)
        })
    }

    /// Restarts the plugin and lets it carry out the words.
    @discardableResult private func perform(_ words: String) -> larder_status {
        fixture.stop()
        fixture.forget()
        #expect(fixture.start("org.example.drafter", settings: #"{"do": "\#(words)"}"#) == LARDER_OK)
        return larder_fake_run(fixture.fake, LARDER_TRIGGER_POLICIES_CHANGED, nil, 0)
    }

    private var id: String { larder_fake_project_id(fixture.fake, 0).map { String(cString: $0) } ?? "" }
    private var changes: [String] { fixture.entries(LARDER_FAKE_PROJECT) { String(cString: $0.name) } }

    @Test("SDK W09: steps are added, undone and replaced, and a later start finds them")
    func steps() throws {
        #expect(perform("create add:a add:b undo add:c show") == LARDER_OK)
        #expect(fixture.logLines == ["undo true", "2/2 a,c data '' true false current c"])
        #expect(changes == ["create", "add_step", "add_step", "undo", "add_step"])
        #expect(fixture.mistakes == [])
        // A person moves the cursor back before the plugin is started again.
        #expect(larder_fake_set_cursor(fixture.fake, id, 1) == 1)
        #expect(perform("show undo undo redo whole:state show") == LARDER_OK)
        #expect(
            fixture.logLines == [
                "1/2 a,c data '' true true current a", "undo true", "undo false", "redo true",
                "2/2 a, data 'state' true false current ",
            ])
        let kept = try #require(larder_fake_project(fixture.fake, id)).pointee
        #expect(kept.step_count == 2 && kept.cursor == 2 && kept.user_data.len == 5)
        let step = try #require(larder_fake_project_step(fixture.fake, id, 0)).pointee
        #expect(step.user_data.len == 1 && larder_fake_project_step(fixture.fake, id, 2) == nil)
    }

    @Test("SDK W10: an update changes all that it names, unless somebody was faster")
    func updates() {
        #expect(perform("create many:abcd back-to:1 show") == LARDER_OK)
        #expect(fixture.logLines == ["added 4", "1/3 b,c,d data 'kept' true true current b"])
        #expect(perform("stale") == LARDER_CONFLICT)
        #expect(fixture.failures == ["the host's projects.update failed: it changed since it was read"])
        #expect(perform("back-to:3") == LARDER_INVALID_ARGUMENT)
        #expect(perform("show list duplicate show remove show list") == LARDER_OK)
        let shown = "1/3 b,c,d data 'kept' true true current b"
        #expect(fixture.logLines == [shown, "list 1 1", shown, "remove true", "no project", "list 1 1"])
    }

    @Test("SDK W10: a cursor and a time that no project has are not taken for leaving them out")
    func sentinels() {
        #expect(perform("create many:abcd whole:kept") == LARDER_OK)
        for cursor in ["-1", "-2"] { #expect(perform("cursor:\(cursor)") == LARDER_INVALID_ARGUMENT) }
        #expect(perform("if:0") == LARDER_CONFLICT)
        #expect(fixture.failures == ["the project was not modified at 0"])
        #expect(perform("show") == LARDER_OK)
        #expect(fixture.logLines == ["1/1  data 'kept' true false current "])
    }

    @Test("SDK W11: assets are copied from a folder, which stays, and go with the fake host")
    func assets() throws {
        try withTemporaryFolder { folder in
            try Files.write("picture", to: "\(folder)/assets/100%.png")
            #expect(perform("create assets:\(folder)/assets usage duplicate usage") == LARDER_OK)
            #expect(Files.exists("\(folder)/assets/100%.png"))
            let lines = fixture.logLines.map { $0.split(separator: " ") }
            #expect(lines.count == 2 && lines.allSatisfy { $0.last == "1000000000" })
            let used = lines.compactMap { Int($0[1]) }
            // The host's own files count too.
            #expect(used.count == 2 && used[0] > 7 && used[1] == 2 * used[0], "\(used)")
            let step = try #require(larder_fake_project_step(fixture.fake, id, 0)).pointee
            #expect(try Files.text("\(String(step.assets))/100%.png") == "picture")
            #expect(perform("assets:\(folder)/none") == LARDER_INVALID_ARGUMENT)
            #expect(fixture.mistakes == ["projects.add_step \(LARDER_INVALID_ARGUMENT)"])
        }
    }

    @Test("SDK: a call that fails has changed its project all the same; a fault is the plugin's error")
    func failures() {
        #expect(perform("create add:a fail add:b") == LARDER_FAILED)
        #expect(changes == ["create", "add_step"])
        larder_fake_fail(fixture.fake, "projects.add_step", 1, LARDER_IO)
        #expect(perform("add:b") == LARDER_IO)
        #expect(fixture.failures == ["the host's projects.add_step failed: reading or writing failed"])
        #expect(perform("add:bc") == LARDER_OK)
        larder_fake_quota(fixture.fake, 3)
        #expect(perform("add:d") == LARDER_LIMIT)
        larder_fake_quota(fixture.fake, 1_000_000)
        #expect(perform("undo add:de show") == LARDER_OK)
        #expect(fixture.logLines.last == "2/2 a,de data '' true false current de")
    }

    @Test("G11: without the service that it requires, the plugin says so")
    func withheld() {
        larder_fake_withhold(fixture.fake, LARDER_EXT_PROJECTS)
        #expect(fixture.start("org.example.drafter") == LARDER_UNSUPPORTED)
        #expect(
            fixture.problem
                == "it requires the service larder.projects/1, which the config withholds; to grant it, remove it from "
                + "`withhold` under `plugins.org.example.drafter`")
    }
}
