/// What failed in a project storage, with what it was about and why.
public struct ProjectError: Error, Sendable, CustomStringConvertible {
    public enum Code: Hashable, Sendable {
        /// The request makes no sense. Nothing was written.
        case invalidArgument
        case writeFailed
        case fetchFailed
        case deleteFailed
        case calculateSizeFailed
    }

    public var code: Code
    /// What was being done, to what.
    public var message: String
    public var projectID: ProjectID?
    public var stepID: StepID?
    /// Why: a ``ProjectProblem``, a ``SystemCallError`` or a ``BlobStackError``.
    public var underlying: (any Error)?

    public init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

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
