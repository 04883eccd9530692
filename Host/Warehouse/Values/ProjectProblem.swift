/// Why an operation on a project could not be done, where no system call failed.
public enum ProjectProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case noSuchProject
    case noSuchStep
    /// The cursor that was asked for, and how many steps there would be.
    case cursorOutOfRange(cursor: Int, steps: Int)
    /// A request that is about another project than the one that is updated.
    case otherProject
    /// The source of a step's assets cannot be used: its path, and why.
    case badSource(path: String, why: String)
    /// A source that was to be moved, and lies on another file system than the storage: its path.
    case sourceElsewhere(path: String)
    /// What the storage itself wrote does not make sense any more: the path, and what is wrong.
    case damaged(path: String, why: String)
    /// A newer version of this library wrote the project.
    case newerFormat(Int)

    public var description: String {
        switch self {
        case .noSuchProject: "there is no such project"
        case .noSuchStep: "the project has no such step"
        case .cursorOutOfRange(let cursor, let steps): "the step cursor \(cursor) is not within 0 and \(steps)"
        case .otherProject: "the request is about another project"
        case .badSource(let path, let why): "\(path) cannot be used as assets: \(why)"
        case .sourceElsewhere(let path):
            "\(path) cannot be moved: it, or a part of it, lies on another file system than the projects"
        case .damaged(let path, let why): "\(path) is damaged: \(why)"
        case .newerFormat(let format): "the project was written by a newer version (format \(format))"
        }
    }
}
