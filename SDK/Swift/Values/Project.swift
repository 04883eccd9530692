/// A project of the plugin's, as it was when it was fetched.
///
/// ```swift
/// let projects = try host.require(host.projects, .projects)
/// for id in try projects.list() {
///     guard let project = try projects.project(id), project.canUndo else { continue }
///     host.log?.debug("\(project.cursor) of \(project.stepCount) steps are applied")
/// }
/// ```
public struct Project: Hashable, Sendable {
    /// The id.
    public var id: String
    /// The time of the creation, in nanoseconds since 1970 UTC.
    public var created: Int64
    /// The time of the last update, in nanoseconds since 1970 UTC. Changes of assets do not count.
    public var modified: Int64
    /// The number of applied steps: the current step is the one before this index.
    public var cursor: Int
    /// The number of steps.
    public var stepCount: Int
    /// The ids of the steps in their order. Nil: they were not asked for.
    public var stepIDs: [String]?
    /// Bytes of the plugin's own, empty in a new project. Nil: they were not asked for.
    public var userData: [UInt8]?
    /// The path of a folder that the plugin may change in any way.
    public var assets: String

    /// Whether a step is applied.
    public var canUndo: Bool { cursor > 0 }
    /// Whether a step is not applied.
    public var canRedo: Bool { cursor < stepCount }

    /// The id of the step that was applied last. Nil: no step is applied, or the ids were not asked for.
    public var currentStepID: String? { stepIDs.flatMap { cursor > 0 && cursor <= $0.count ? $0[cursor - 1] : nil } }

    init(_ view: larder_project, id: String, _ parts: ProjectParts) {
        self.id = id
        created = view.created
        modified = view.modified
        cursor = Int(view.cursor)
        stepCount = Int(view.step_count)
        if parts.contains(.stepIDs) {
            stepIDs = view.step_ids == nil ? [] : texts(view.step_ids, view.step_count)
        }
        if parts.contains(.userData) { userData = copy(view.user_data) }
        assets = Text(unsafe: view.assets).copied()
    }
}

/// The parts of a project that are fetched only on request.
///
/// ```swift
/// let project = try host.projects?.project("0C0CA4A1-95BF-4C84-84A5-1AB3D7D1B1F6", [.userData])
/// ```
public struct ProjectParts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// ``Project/stepIDs``.
    public static let stepIDs = ProjectParts(rawValue: LARDER_PROJECT_STEPS)
    /// ``Project/userData``.
    public static let userData = ProjectParts(rawValue: LARDER_PROJECT_USER_DATA)
}

/// The order of a list of projects. Without a flag, projects are ordered by creation, the latest first.
///
/// ```swift
/// let ids = try host.projects?.list([.byModification, .oldestFirst])
/// ```
public struct ProjectOrder: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Orders by ``Project/modified`` instead of ``Project/created``.
    public static let byModification = ProjectOrder(rawValue: LARDER_PROJECTS_BY_MODIFICATION)
    /// Lists the oldest project first.
    public static let oldestFirst = ProjectOrder(rawValue: LARDER_PROJECTS_OLDEST_FIRST)
}

/// A step of a project. It never changes.
///
/// ```swift
/// let projects = try host.require(host.projects, .projects)
/// if let id = try projects.list().first, let current = try projects.project(id)?.currentStepID {
///     let step = try projects.step(current, of: id)
///     host.log?.debug("the step has \(step?.userData.count ?? 0) bytes")
/// }
/// ```
public struct ProjectStep: Hashable, Sendable {
    /// Bytes of the plugin's own.
    public var userData: [UInt8]
    /// The path of a folder. Empty if the step was added without assets.
    public var assets: String

    init(_ view: larder_project_step) {
        userData = copy(view.user_data)
        assets = Text(unsafe: view.assets).copied()
    }
}

/// The content of a step to add.
///
/// ```swift
/// let step = ProjectStepContent(userData: Array("500000".utf8))
/// ```
public struct ProjectStepContent: Hashable, Sendable {
    /// Bytes of the plugin's own, at most 16 MiB.
    public var userData: [UInt8]
    /// The absolute path of a folder that is copied as the step's assets, and stays. Nil: the step has no assets.
    public var assetsSource: String?

    /// Creates the content of a step.
    public init(userData: [UInt8] = [], assetsSource: String? = nil) {
        self.userData = userData
        self.assetsSource = assetsSource
    }
}

/// A change of a project. The host makes it in this order: it adds the new steps at the cursor, deletes steps, and sets
/// the cursor.
///
/// ```swift
/// let projects = try host.require(host.projects, .projects)
/// if let id = try projects.list().first, let project = try projects.project(id) {
///     try projects.update(id, ProjectUpdate(userData: Array("done".utf8), ifModified: project.modified))
/// }
/// ```
public struct ProjectUpdate: Hashable, Sendable {
    /// The number of applied steps after the update. Nil: as many as before.
    public var cursor: Int?
    /// The ids of the steps to delete. The host ignores ids of steps that the project does not have.
    public var stepsToDelete: [String]
    /// The steps to add, in their order.
    public var stepsToAdd: [ProjectStepContent]
    /// The user data that replaces the project's. Nil: the project's stays.
    public var userData: [UInt8]?
    /// The value of ``Project/modified`` that was fetched: the host makes the update only if the project still has it.
    /// Nil: the host makes the update in any case.
    public var ifModified: Int64?

    /// Creates an update.
    public init(
        cursor: Int? = nil, stepsToDelete: [String] = [], stepsToAdd: [ProjectStepContent] = [],
        userData: [UInt8]? = nil, ifModified: Int64? = nil
    ) {
        self.cursor = cursor
        self.stepsToDelete = stepsToDelete
        self.stepsToAdd = stepsToAdd
        self.userData = userData
        self.ifModified = ifModified
    }
}

/// The room that the plugin's projects take, in bytes.
///
/// ```swift
/// if let usage = try host.projects?.usage(), usage.bytes > usage.quota / 2 {
///     host.log?.info("half of the quota is used")
/// }
/// ```
public struct ProjectUsage: Hashable, Sendable {
    /// The total size of all files of the plugin's projects.
    public var bytes: UInt64
    /// The greatest total size.
    public var quota: UInt64
}

private func copy(_ bytes: larder_bytes) -> [UInt8] {
    Array(UnsafeBufferPointer(start: bytes.ptr, count: Int(bytes.len)))
}

/// Copies texts of the host's.
func texts(_ ids: UnsafePointer<larder_str>?, _ count: UInt64) -> [String] {
    UnsafeBufferPointer(start: ids, count: ids == nil ? 0 : Int(count)).map { Text(unsafe: $0).copied() }
}
