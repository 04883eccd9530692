/// The content of a step to add.
public struct StepContent: Hashable, Sendable {
    /// The treatment of the folder that a step's assets come from. If the update fails, the folder is unchanged in each
    /// case.
    public enum SourceUse: Hashable, Sendable {
        /// A source that is copied, and removed after the update has succeeded. For a folder made only to be handed
        /// over.
        case consumed
        /// A source that is copied and kept.
        case copied
        /// A source that is renamed, with everything that was written to it until then. The source must lie on the
        /// storage's file system.
        case moved
    }

    /// The step's user data, which only the program interprets.
    public var userData: [UInt8]
    /// The path of the folder that the step's assets come from; nil for a step without assets.
    ///
    /// The folder must not lie in the storage or contain it. Symbolic links in the folder must be relative and lead to
    /// entries of the folder.
    public var assetsSource: String?
    /// The treatment of the folder at ``assetsSource``.
    public var sourceUse: SourceUse

    /// Creates the content of a step.
    public init(userData: [UInt8] = [], assetsSource: String? = nil, sourceUse: SourceUse = .consumed) {
        self.userData = userData
        self.assetsSource = assetsSource
        self.sourceUse = sourceUse
    }
}
