/// What a step that is to be added consists of.
public struct StepContent: Hashable, Sendable {
    /// Bytes of the program's own.
    public var userData: [UInt8]
    /// The path of a folder that is copied as the step's assets and removed when the update has succeeded; nil: no assets.
    ///
    /// It must not lie in the storage, and its symbolic links must be relative and lead to what lies in it.
    public var assetsSource: String?

    public init(userData: [UInt8] = [], assetsSource: String? = nil) {
        self.userData = userData
        self.assetsSource = assetsSource
    }
}
