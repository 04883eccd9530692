/// What a step that is to be added consists of.
public struct StepContent: Hashable, Sendable {
    /// What becomes of a folder that a step's assets come from. If the update fails, it is as it was, whichever of these was asked for.
    public enum SourceUse: Hashable, Sendable {
        /// It is copied, and removed when the update has succeeded: for a folder that was made to be given away.
        case consumed
        /// It is copied and stays.
        case copied
        /// It is renamed, with all that was written to it until then. It must lie on the storage's file system.
        case moved
    }

    /// Bytes of the program's own.
    public var userData: [UInt8]
    /// The path of a folder that the step's assets come from; nil: no assets.
    ///
    /// It must not lie in the storage nor hold it, and its symbolic links must be relative and lead to what lies in it.
    public var assetsSource: String?
    public var sourceUse: SourceUse

    public init(userData: [UInt8] = [], assetsSource: String? = nil, sourceUse: SourceUse = .consumed) {
        self.userData = userData
        self.assetsSource = assetsSource
        self.sourceUse = sourceUse
    }
}
