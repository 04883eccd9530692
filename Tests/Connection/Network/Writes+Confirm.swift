import Model

@testable import Connection

extension Writes {
    /// Asks what the server holds after an upload, whose answer came just now.
    func confirm(
        _ path: ItemPath, _ request: UploadRequest, answer: WriteAnswer, among entries: @Sendable () async -> Int
    ) async throws(ConnectionError) -> ConfirmedUpload {
        try await confirm(AnsweredUpload(path, request, answer, at: wire.clock.monotonic()), among: entries)
    }
}
