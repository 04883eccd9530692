/// The reason why an operation on a project failed without a failed system call.
public enum ProjectProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// A missing project.
    case noSuchProject
    /// A step id that the project does not contain.
    case noSuchStep
    /// A requested step cursor outside the steps; `steps` is the number of steps after the update.
    case cursorOutOfRange(cursor: Int, steps: Int)
    /// A request whose project id is not the id of the project being updated.
    case otherProject
    /// A source of assets that cannot be used, with its path and the reason.
    case badSource(path: String, why: String)
    /// A source of assets that was to be moved, or an entry of the source, that lies on another file system than the
    /// storage, with its path.
    case sourceElsewhere(path: String)
    /// A file of the storage's own with invalid content, or a missing one, with the path and the reason.
    case damaged(path: String, why: String)
    /// A project that a newer version of this library wrote, with the number of its format.
    case newerFormat(Int)

    public var description: String {
        switch self {
        case .noSuchProject: "there is no such project"
        case .noSuchStep: "the project has no such step"
        case .cursorOutOfRange(let cursor, let steps): "the step cursor \(cursor) is not between 0 and \(steps)"
        case .otherProject: "the request is about another project"
        case .badSource(let path, let why): "\(path) cannot be used as assets: \(why)"
        case .sourceElsewhere(let path):
            "\(path) cannot be moved: it, or a part of it, lies on another file system than the projects"
        case .damaged(let path, let why): "\(path) is damaged: \(why)"
        case .newerFormat(let format): "the project was written by a newer version (format \(format))"
        }
    }
}
