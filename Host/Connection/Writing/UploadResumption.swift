public import Model

/// How an upload goes on where an earlier attempt was interrupted, if the server can do that.
public struct UploadResumption: Sendable {
    /// The upload that an earlier attempt with the same content has begun; nil if there is none.
    public var begun: ResumableUpload?
    /// Notes the upload that the server keeps open now, durably, before the first byte goes there; nil if it keeps none
    /// any more.
    public var note: @Sendable (ResumableUpload?) async throws -> Void

    /// Creates the facts.
    public init(begun: ResumableUpload?, note: @escaping @Sendable (ResumableUpload?) async throws -> Void) {
        self.begun = begun
        self.note = note
    }
}
