public import Model

/// What stands behind `larder.projects/1` for the plugins of an account. Called on the plugins' threads, where it may block; the
/// calls of one plugin come one after another.
///
/// A project of another plugin's is as one that there is not. What changes something is durable when it returns.
public protocol PluginProjects: Sendable {
    /// The ids of the plugin's projects.
    /// - Throws: `LARDER_IO` if they cannot be read.
    func projects(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [String]

    /// Reads a project of the plugin's.
    /// - Throws: `LARDER_NOT_FOUND` if there is none with this id, `LARDER_IO` if it cannot be read or is damaged.
    func project(
        _ id: String, of plugin: PluginID, withSteps: Bool, withUserData: Bool
    ) throws(ServiceError) -> PluginProject

    /// Reads a step of a project.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project or step, `LARDER_IO` if it cannot be read or is
    ///   damaged.
    func step(_ step: String, of id: String, of plugin: PluginID) throws(ServiceError) -> PluginProject.Step

    /// Measures the files of all the plugin's projects.
    /// - Throws: `LARDER_IO` if they cannot be looked at.
    func usage(of plugin: PluginID) throws(ServiceError) -> PluginProject.Usage

    /// Makes a project without steps and data.
    /// - Returns: the new project's id.
    /// - Throws: `LARDER_LIMIT` above the quota, `LARDER_DENIED` in a preview, `LARDER_IO` if it cannot be written.
    func create(for plugin: PluginID) throws(ServiceError) -> String

    /// Changes a project, whole or not at all.
    /// - Returns: the ids of the steps that were added.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project, or no step to go to; `LARDER_INVALID_ARGUMENT` for a
    ///   cursor or assets that cannot be; `LARDER_CONFLICT` if it was changed meanwhile; and as ``create(for:)``.
    func change(
        _ id: String, of plugin: PluginID, _ change: PluginProjectChange
    ) throws(ServiceError) -> [String]

    /// Copies a project.
    /// - Returns: the copy's id.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project, and as ``create(for:)``.
    func duplicate(_ id: String, of plugin: PluginID) throws(ServiceError) -> String

    /// Removes a project for good.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project, `LARDER_DENIED` in a preview, `LARDER_IO` if it cannot
    ///   be removed.
    func remove(_ id: String, of plugin: PluginID) throws(ServiceError)
}

/// In which order projects are listed.
public struct PluginProjectOrder: Hashable, Sendable {
    /// By creation otherwise.
    public var isByModification: Bool
    public var isOldestFirst: Bool

    public init(isByModification: Bool = false, isOldestFirst: Bool = false) {
        self.isByModification = isByModification
        self.isOldestFirst = isOldestFirst
    }
}

/// A project as a plugin sees it.
public struct PluginProject: Hashable, Sendable {
    public var created: Timestamp
    public var modified: Timestamp
    public var cursor: Int
    public var stepCount: Int
    /// The steps' ids, in their order; nil: they were not asked for.
    public var steps: [String]?
    /// Nil: it was not asked for.
    public var userData: [UInt8]?
    /// A folder's path.
    public var assets: String

    public init(
        created: Timestamp, modified: Timestamp, cursor: Int, stepCount: Int, steps: [String]?, userData: [UInt8]?,
        assets: String
    ) {
        self.created = created
        self.modified = modified
        self.cursor = cursor
        self.stepCount = stepCount
        self.steps = steps
        self.userData = userData
        self.assets = assets
    }

    /// A step of it.
    public struct Step: Hashable, Sendable {
        public var userData: [UInt8]
        /// A folder's path.
        public var assets: String

        public init(userData: [UInt8], assets: String) {
            self.userData = userData
            self.assets = assets
        }
    }

    /// Of all projects of a plugin, in bytes.
    public struct Usage: Hashable, Sendable {
        public var bytes: UInt64
        public var quota: UInt64

        public init(bytes: UInt64, quota: UInt64) {
            self.bytes = bytes
            self.quota = quota
        }
    }
}

/// What a plugin changes of a project, whole or not at all.
public enum PluginProjectChange: Hashable, Sendable {
    case update(Update)
    /// - Parameter userData: in place of the project's; nil: it stays.
    case addStep(NewStep, userData: [UInt8]?)
    case undo, redo

    /// Steps, cursor and data in one change.
    public struct Update: Hashable, Sendable {
        /// Nil: as many steps applied as now.
        public var cursor: Int?
        public var stepsToDelete: [String]
        public var stepsToAdd: [NewStep]
        /// In place of the project's; nil: it stays.
        public var userData: [UInt8]?
        /// Only if the project was last updated then; nil: whatever became of it.
        public var ifModified: Timestamp?
    }

    /// A step that is to be added.
    public struct NewStep: Hashable, Sendable {
        public var userData: [UInt8]
        /// A folder's path; nil: no assets.
        public var assetsSource: String?
    }
}
