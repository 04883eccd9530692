import CLarder
import Model

/// `larder.projects/1`
let projectsTable = larder_projects(
    struct_size: size(of: larder_projects.self), reserved: 0,
    list: { host, order, out in
        serve(host, "projects.list", during: .any) { context throws(ServiceError) in
            try check(flags: order, known: LARDER_PROJECTS_BY_MODIFICATION | LARDER_PROJECTS_OLDEST_FIRST)
            let filled = try FilledStruct(out)
            let ids = try context.storedProjects().projects(
                of: context.plugin,
                PluginProjectOrder(
                    isByModification: order & LARDER_PROJECTS_BY_MODIFICATION != 0,
                    isOldestFirst: order & LARDER_PROJECTS_OLDEST_FIRST != 0))
            filled.fill(with: context.lent.view(ids: ids))
        }
    },
    fetch: { host, id, parts, out in
        serve(host, "projects.fetch", during: .any) { context throws(ServiceError) in
            try check(flags: parts, known: LARDER_PROJECT_STEPS | LARDER_PROJECT_USER_DATA)
            let filled = try FilledStruct(out)
            let project = try context.storedProjects().project(
                try id.required("the project's id"), of: context.plugin,
                withSteps: parts & LARDER_PROJECT_STEPS != 0, withUserData: parts & LARDER_PROJECT_USER_DATA != 0)
            filled.fill(with: context.lent.view(project))
        }
    },
    fetch_step: { host, id, step, out in
        serve(host, "projects.fetch_step", during: .any) { context throws(ServiceError) in
            let filled = try FilledStruct(out)
            let step = try context.storedProjects().step(
                try step.required("the step's id"), of: try id.required("the project's id"), of: context.plugin)
            filled.fill(
                with: larder_project_step(
                    struct_size: size(of: larder_project_step.self), reserved: 0,
                    user_data: context.lend(step.userData), assets: context.lend(step.assets)))
        }
    },
    usage: { host, out in
        serve(host, "projects.usage", during: .any) { context throws(ServiceError) in
            let filled = try FilledStruct(out)
            let usage = try context.storedProjects().usage(of: context.plugin)
            filled.fill(
                with: larder_project_usage(
                    struct_size: size(of: larder_project_usage.self), reserved: 0, bytes: usage.bytes,
                    quota: usage.quota))
        }
    },
    create: { host, out in
        serve(host, "projects.create", during: .workWriting) { context throws(ServiceError) in
            out.pointee = context.lend(try context.storedProjects().create(for: context.plugin))
        }
    },
    update: { host, id, update, out in
        serve(host, "projects.update", during: .workWriting) { context throws(ServiceError) in
            let filled = try FilledStruct(out)
            let added = try context.change(id, .update(try PluginProjectChange.Update(update)))
            filled.fill(with: context.lent.view(ids: added))
        }
    },
    add_step: { host, id, step, userData, out in
        serve(host, "projects.add_step", during: .workWriting) { context throws(ServiceError) in
            let step = try PluginProjectChange.NewStep(step)
            let added = try context.change(id, .addStep(step, userData: try userData.checkedUserData()))
            guard let id = added.first else { throw ServiceError(LARDER_INTERNAL, "no step was added") }
            out.pointee = context.lend(id)
        }
    },
    undo: { host, id in
        serve(host, "projects.undo", during: .workWriting) { context throws(ServiceError) in
            _ = try context.change(id, .undo)
        }
    },
    redo: { host, id in
        serve(host, "projects.redo", during: .workWriting) { context throws(ServiceError) in
            _ = try context.change(id, .redo)
        }
    },
    duplicate: { host, id, out in
        serve(host, "projects.duplicate", during: .workWriting) { context throws(ServiceError) in
            let copy = try context.storedProjects().duplicate(try id.required("the project's id"), of: context.plugin)
            out.pointee = context.lend(copy)
        }
    },
    remove: { host, id in
        serve(host, "projects.remove", during: .workWriting) { context throws(ServiceError) in
            try context.storedProjects().remove(try id.required("the project's id"), of: context.plugin)
        }
    })

/// The largest user data of a project or step, in bytes.
private let largestUserData: UInt64 = 16 << 20
/// The largest number of steps that one update may delete, and that it may add.
private let mostSteps: UInt64 = 10_000

extension InstanceContext {
    fileprivate func storedProjects() throws(ServiceError) -> any PluginProjects {
        guard let projects else { throw ServiceError(LARDER_UNSUPPORTED, "there are no projects here") }
        return projects
    }

    fileprivate func change(_ id: larder_str, _ change: PluginProjectChange) throws(ServiceError) -> [String] {
        try storedProjects().change(try id.required("the project's id"), of: plugin, change)
    }
}

extension larder_bytes {
    fileprivate func checkedUserData() throws(ServiceError) -> [UInt8]? {
        // The length is checked before the data are copied, because they may be long.
        guard len <= largestUserData else { throw ServiceError(LARDER_LIMIT, "user data above 16 MiB") }
        guard len == 0 || ptr != nil else { throw ServiceError(LARDER_INVALID_ARGUMENT, "user data without bytes") }
        return copied
    }
}

extension PluginProjectChange.NewStep {
    fileprivate init(_ address: UnsafeRawPointer) throws(ServiceError) {
        let given: larder_project_new_step
        do throws(Refusal) { given = try larder_project_new_step.copy(address) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        userData = try given.user_data.checkedUserData() ?? []
        assetsSource = try given.assets_source.optional("the source of assets")
        if let assetsSource, !assetsSource.hasPrefix("/") || assetsSource.utf8.contains(0) {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the source of assets is not an absolute path")
        }
    }
}

extension PluginProjectChange.Update {
    fileprivate init(_ address: UnsafePointer<larder_project_update>) throws(ServiceError) {
        let given: larder_project_update
        do throws(Refusal) { given = try larder_project_update.copy(address) } catch {
            throw ServiceError(LARDER_INVALID_ARGUMENT, error.reason)
        }
        guard given.delete_count <= mostSteps, given.add_count <= mostSteps else {
            throw ServiceError(LARDER_LIMIT, "an update of more than \(mostSteps) steps")
        }
        cursor = given.cursor == Int64(LARDER_PROJECT_CURSOR_STAYS) ? nil : Int(given.cursor)
        stepsToDelete = []
        stepsToAdd = []
        for index in 0..<Int(given.delete_count) {
            guard let ids = given.delete_ids else {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the steps to delete are missing")
            }
            stepsToDelete.append(try ids[index].required("a step's id"))
        }
        for index in 0..<Int(given.add_count) {
            guard let steps = given.add, given.add_stride >= UInt32(larder_project_new_step.firstSize) else {
                throw ServiceError(LARDER_INVALID_ARGUMENT, "the steps to add are missing, or their stride is")
            }
            stepsToAdd.append(try PluginProjectChange.NewStep(steps + index * Int(given.add_stride)))
        }
        userData = try given.user_data.checkedUserData()
        ifModified = given.if_modified == 0 ? nil : Timestamp(nanoseconds: given.if_modified)
    }
}

extension LentMemory {
    fileprivate func view(ids: [String]) -> larder_project_ids {
        larder_project_ids(
            struct_size: size(of: larder_project_ids.self), reserved: 0, ids: lend(ids), count: UInt64(ids.count))
    }

    private func lend(_ texts: [String]) -> UnsafePointer<larder_str>? {
        guard !texts.isEmpty else { return nil }
        let views = lend(bytes: MemoryLayout<larder_str>.stride * texts.count).bindMemory(
            to: larder_str.self, capacity: texts.count)
        for (index, text) in texts.enumerated() { (views + index).initialize(to: lend(text)) }
        return UnsafePointer(views)
    }

    fileprivate func view(_ project: PluginProject) -> larder_project {
        larder_project(
            struct_size: size(of: larder_project.self), can_undo: project.cursor > 0 ? 1 : 0,
            can_redo: project.cursor < project.stepCount ? 1 : 0, reserved: 0,
            created: project.created.nanoseconds, modified: project.modified.nanoseconds,
            cursor: UInt64(project.cursor), step_count: UInt64(project.stepCount),
            step_ids: project.steps.flatMap(lend),
            user_data: project.userData.map(lend) ?? larder_bytes(ptr: nil, len: 0), assets: lend(project.assets))
    }
}

extension larder_project_ids: SizedTable {
    static var tableName: String { "project ids" }
    static var firstSize: Int { 24 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_project: SizedTable {
    static var tableName: String { "project" }
    static var firstSize: Int { 88 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_project_step: SizedTable {
    static var tableName: String { "project step" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_project_new_step: SizedTable {
    static var tableName: String { "new project step" }
    static var firstSize: Int { 40 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_project_update: SizedTable {
    static var tableName: String { "project update" }
    static var firstSize: Int { 72 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}

extension larder_project_usage: SizedTable {
    static var tableName: String { "project usage" }
    static var firstSize: Int { 24 }
    static var functions: (offset: Int, names: [String]) { (0, []) }
}
