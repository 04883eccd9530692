/// The optional parts of a snapshot. Both parts grow with the use of the project; the other parts are small and always
/// fetched.
public struct ProjectFetchOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The ids of the project's steps.
    public static let stepIDs = ProjectFetchOptions(rawValue: 1)
    /// The project's user data.
    public static let userData = ProjectFetchOptions(rawValue: 2)
    /// All optional parts.
    public static let all: ProjectFetchOptions = [.stepIDs, .userData]
}
