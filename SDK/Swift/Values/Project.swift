/// A project of the plugin's, as it was when it was fetched.
public struct Project: Hashable, Sendable {
    public var id: String
    /// In nanoseconds since 1970.
    public var created: Int64
    /// By the last update, in nanoseconds since 1970; changes of assets do not count.
    public var modified: Int64
    /// How many of the steps are applied: the current one is the one before this index.
    public var cursor: Int
    public var stepCount: Int
    /// The steps in their order; nil: they were not asked for.
    public var stepIDs: [String]?
    /// Bytes of the plugin's own, empty in a new project; nil: they were not asked for.
    public var userData: [UInt8]?
    /// The path of a folder that the plugin changes as it likes.
    public var assets: String

    /// Whether a step is applied.
    public var canUndo: Bool { cursor > 0 }
    /// Whether a step is not applied.
    public var canRedo: Bool { cursor < stepCount }

    /// The step that was applied last; nil: none is, or they were not asked for.
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

/// Which parts of a project are fetched besides what is small.
public struct ProjectParts: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let stepIDs = ProjectParts(rawValue: LARDER_PROJECT_STEPS)
    public static let userData = ProjectParts(rawValue: LARDER_PROJECT_USER_DATA)
}

/// How projects are listed; without any: by creation, the latest first.
public struct ProjectOrder: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let byModification = ProjectOrder(rawValue: LARDER_PROJECTS_BY_MODIFICATION)
    public static let oldestFirst = ProjectOrder(rawValue: LARDER_PROJECTS_OLDEST_FIRST)
}

/// A step of a project. It never changes.
public struct ProjectStep: Hashable, Sendable {
    public var userData: [UInt8]
    /// The path of a folder, empty if the step was added without assets.
    public var assets: String

    init(_ view: larder_project_step) {
        userData = copy(view.user_data)
        assets = Text(unsafe: view.assets).copied()
    }
}

/// A step that is to be added.
public struct ProjectStepContent: Hashable, Sendable {
    /// At most 16 MiB.
    public var userData: [UInt8]
    /// The absolute path of a folder that is copied as the step's assets, and stays; nil: none.
    public var assetsSource: String?

    public init(userData: [UInt8] = [], assetsSource: String? = nil) {
        self.userData = userData
        self.assetsSource = assetsSource
    }
}

/// What an update changes, in this order: steps are added where the cursor stood, steps are deleted, the cursor is set.
public struct ProjectUpdate: Hashable, Sendable {
    /// How many steps are to be applied; nil: as many as now.
    public var cursor: Int?
    /// Those that the project does not have are passed over.
    public var stepsToDelete: [String]
    public var stepsToAdd: [ProjectStepContent]
    /// In place of the project's; nil: they stay.
    public var userData: [UInt8]?
    /// ``Project/modified`` as it was fetched: only if the project is still that; nil: whatever it is.
    public var ifModified: Int64?

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

/// How much room the plugin's projects take, in bytes.
public struct ProjectUsage: Hashable, Sendable {
    public var bytes: UInt64
    public var quota: UInt64
}

private func copy(_ bytes: larder_bytes) -> [UInt8] {
    Array(UnsafeBufferPointer(start: bytes.ptr, count: Int(bytes.len)))
}

func texts(_ ids: UnsafePointer<larder_str>?, _ count: UInt64) -> [String] {
    UnsafeBufferPointer(start: ids, count: ids == nil ? 0 : Int(count)).map { Text(unsafe: $0).copied() }
}
