import Glibc
import Model
import Warehouse

extension Failure {
    static func noProject(_ id: ProjectID) -> Failure {
        Failure(.notFound, "there is no project \(id)", hint: "`larder project list` lists all")
    }

    init(_ error: ProjectError) {
        switch error.underlying {
        case let problem as ProjectProblem: self.init(problem, error)
        case let cause as SystemCallError:
            let hint =
                switch cause.code {
                case ENOSPC, EDQUOT: "free some space and try again; the project is as it was"
                case EACCES, EPERM, EROFS: "check that the folder belongs to you and is writable"
                case ENOENT, ENOTDIR: "check that the folder exists, or name another with --base"
                default: "check that the disk is mounted and sound"
                }
            self.init(.localIO, error.description, hint: hint)
        default: self.init(.internal, error.description)
        }
    }

    private init(_ problem: ProjectProblem, _ error: ProjectError) {
        switch problem {
        case .noSuchProject:
            self = error.projectID.map { .noProject($0) } ?? Failure(.notFound, error.description)
        case .noSuchStep:
            self.init(
                .notFound, error.description,
                hint: error.projectID.map { "`larder project show \($0) --steps` lists the steps" })
        case .cursorOutOfRange, .badSource: self.init(.badData, error.description)
        case .sourceElsewhere:
            self.init(
                .badData, error.description,
                hint: "leave out --move: then the folder is copied, and you can remove the original later")
        case .otherProject: self.init(.internal, error.description)
        case .newerFormat: self.init(.localIO, error.description, hint: "update Larder")
        case .damaged:
            self.init(
                .localIO, error.description, hint: "restore the project's folder from a backup, or delete the project")
        }
    }
}
