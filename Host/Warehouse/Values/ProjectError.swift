/// An error of a project storage: the failed operation, the project or step that it concerns, and the cause.
public struct ProjectError: Error, Sendable, CustomStringConvertible {
    /// The kind of operation that failed.
    public enum Code: Hashable, Sendable {
        /// An update request that contradicts the project. Nothing was written.
        case invalidArgument
        /// A failure to create, update or duplicate a project, to set its dates, or to open a blob stack or push to it.
        case writeFailed
        /// A failure to read or list projects, steps or blobs.
        case fetchFailed
        /// A failure to delete a project or blobs.
        case deleteFailed
        /// A failure to calculate the size of the storage, the size of a project, or the growth by an update.
        case calculateSizeFailed
    }

    /// The kind of operation that failed.
    public var code: Code
    /// The operation that failed, and its object.
    public var message: String
    /// The project that the operation concerned; nil if the operation concerned no particular project.
    public var projectID: ProjectID?
    /// The step that the operation concerned; nil if the operation concerned no particular step.
    public var stepID: StepID?
    /// The cause: a ``ProjectProblem``, a ``SystemCallError`` or a ``BlobStackError``.
    public var underlying: (any Error)?

    /// Creates an error that concerns no particular project.
    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    /// Creates an error that concerns a project, or one of its steps.
    public init(
        _ code: Code, _ message: String, project: ProjectID, step: StepID? = nil, underlying: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        projectID = project
        stepID = step
        self.underlying = underlying
    }

    public var description: String { underlying.map { "\(message): \($0)" } ?? message }
}
