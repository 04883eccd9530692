public import Model

/// The implementation of `larder.projects/1` for the plugins of an account. Called on the plugins' threads, where it
/// may block. The calls of one plugin come one after another.
///
/// A project of another plugin counts as missing. A change is durable when its call returns.
public protocol PluginProjects: Sendable {
    /// Returns the ids of the plugin's projects.
    /// - Throws: `LARDER_IO` if they cannot be read.
    func projects(of plugin: PluginID, _ order: PluginProjectOrder) throws(ServiceError) -> [String]

    /// Reads a project of the plugin.
    /// - Throws: `LARDER_NOT_FOUND` if there is none with this id; `LARDER_IO` if it cannot be read or is damaged.
    func project(
        _ id: String, of plugin: PluginID, withSteps: Bool, withUserData: Bool
    ) throws(ServiceError) -> PluginProject

    /// Reads a step of a project.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project or step; `LARDER_IO` if it cannot be read or is
    ///   damaged.
    func step(_ step: String, of id: String, of plugin: PluginID) throws(ServiceError) -> PluginProject.Step

    /// Measures the files of all projects of the plugin.
    /// - Throws: `LARDER_IO` if the files cannot be inspected.
    func usage(of plugin: PluginID) throws(ServiceError) -> PluginProject.Usage

    /// Makes a project without steps and data.
    /// - Returns: The new project's id.
    /// - Throws: `LARDER_LIMIT` above the quota; `LARDER_DENIED` in a preview; `LARDER_IO` if the project cannot be
    ///   written.
    func create(for plugin: PluginID) throws(ServiceError) -> String

    /// Changes a project completely or not at all.
    /// - Returns: The ids of the steps that were added.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project, or no step to go to; `LARDER_INVALID_ARGUMENT` for an
    ///   invalid cursor or assets; `LARDER_CONFLICT` if the project was changed in the meantime; and the errors of
    ///   ``create(for:)``.
    func change(
        _ id: String, of plugin: PluginID, _ change: PluginProjectChange
    ) throws(ServiceError) -> [String]

    /// Copies a project.
    /// - Returns: The copy's id.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project; and the errors of ``create(for:)``.
    func duplicate(_ id: String, of plugin: PluginID) throws(ServiceError) -> String

    /// Removes a project permanently.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project; `LARDER_DENIED` in a preview; `LARDER_IO` if it cannot
    ///   be removed.
    func remove(_ id: String, of plugin: PluginID) throws(ServiceError)
}

/// The order in which projects are listed.
public struct PluginProjectOrder: Hashable, Sendable {
    /// Whether the order is by the time of the last change. Otherwise the order is by the time of creation.
    public var isByModification: Bool
    /// Whether the oldest project comes first.
    public var isOldestFirst: Bool

    /// Creates an order.
    public init(isByModification: Bool = false, isOldestFirst: Bool = false) {
        self.isByModification = isByModification
        self.isOldestFirst = isOldestFirst
    }
}

/// A project as a plugin sees it.
public struct PluginProject: Hashable, Sendable {
    /// The time of the project's creation.
    public var created: Timestamp
    /// The time of the project's last change.
    public var modified: Timestamp
    /// The step cursor: the number of steps that are applied.
    public var cursor: Int
    /// The number of steps.
    public var stepCount: Int
    /// The steps' ids, in order; nil if they were not requested.
    public var steps: [String]?
    /// The user data; nil if they were not requested.
    public var userData: [UInt8]?
    /// The path of the project's folder of assets.
    public var assets: String

    /// Creates a project.
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

    /// A step of a project.
    public struct Step: Hashable, Sendable {
        /// The step's user data.
        public var userData: [UInt8]
        /// The path of the step's folder of assets.
        public var assets: String

        /// Creates a step.
        public init(userData: [UInt8], assets: String) {
            self.userData = userData
            self.assets = assets
        }
    }

    /// The room that all projects of a plugin take and may take, in bytes.
    public struct Usage: Hashable, Sendable {
        /// The bytes of the projects' files.
        public var bytes: UInt64
        /// The largest number of bytes that the projects may take.
        public var quota: UInt64

        /// Creates the figures.
        public init(bytes: UInt64, quota: UInt64) {
            self.bytes = bytes
            self.quota = quota
        }
    }
}

/// A change of a project, made completely or not at all.
public enum PluginProjectChange: Hashable, Sendable {
    /// A change of steps, cursor and user data.
    case update(Update)
    /// The addition of a step after the cursor. The step replaces the steps that were undone.
    /// - Parameter userData: The new user data of the project; nil to keep the present data.
    case addStep(NewStep, userData: [UInt8]?)
    /// A move of the cursor by one step, backward or forward.
    case undo, redo

    /// A change of steps, cursor and user data.
    public struct Update: Hashable, Sendable {
        /// The new number of applied steps; nil to keep the present number.
        public var cursor: Int?
        /// The ids of the steps to delete.
        public var stepsToDelete: [String]
        /// The steps to add.
        public var stepsToAdd: [NewStep]
        /// The new user data of the project; nil to keep the present data.
        public var userData: [UInt8]?
        /// The time of the project's last change that is required; nil to change the project in any case.
        public var ifModified: Timestamp?

        init(
            cursor: Int?, stepsToDelete: [String], stepsToAdd: [NewStep], userData: [UInt8]?, ifModified: Timestamp?
        ) {
            (self.cursor, self.stepsToDelete, self.stepsToAdd) = (cursor, stepsToDelete, stepsToAdd)
            (self.userData, self.ifModified) = (userData, ifModified)
        }

        /// Creates a move of the cursor.
        /// - Parameter cursor: The new number of applied steps.
        package init(movingTo cursor: Int) {
            self.init(cursor: cursor, stepsToDelete: [], stepsToAdd: [], userData: nil, ifModified: nil)
        }
    }

    /// A step to add.
    public struct NewStep: Hashable, Sendable {
        /// The step's user data.
        public var userData: [UInt8]
        /// The absolute path of the folder that is copied as the step's assets; nil for no assets.
        public var assetsSource: String?
    }
}
