import LarderSDK

/// A processor that counts item list updates. It keeps a project with a step for each update, and the number of updates
/// as the project's user data.
struct Minutes: ItemPolicyProcessor {
    static let description = PluginDescription(
        id: "org.example.minutes", name: "Minutes", version: "1.0.0", required: [.projects])
    static let kind = "minutes"
    static let fields: ItemFields = []

    private let projects: Host.Projects

    init(host: Host) throws(PluginError) { projects = try host.require(host.projects, .projects) }

    var triggers: TriggerSet { [.itemListUpdateCompleted, .itemListUpdateCompletedWithoutChanges] }

    mutating func didPass(_ trigger: Trigger) throws(PluginError) {
        let id = if let newest = try projects.list().first { newest } else { try projects.create() }
        guard let project = try projects.project(id) else { throw PluginError(.notFound, "the project is gone") }
        let update = ProjectStepContent(userData: Array("update \(project.cursor + 1)".utf8))
        try projects.addStep(update, to: id, userData: Array("\(project.cursor + 1) updates".utf8))
    }
}

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(Minutes.self, to: module)
}
