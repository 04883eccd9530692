/// What is fetched of a project besides what is small: these two grow with the use of the project.
public struct ProjectFetchOptions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    public static let stepIDs = ProjectFetchOptions(rawValue: 1)
    public static let userData = ProjectFetchOptions(rawValue: 2)
    public static let all: ProjectFetchOptions = [.stepIDs, .userData]
}
