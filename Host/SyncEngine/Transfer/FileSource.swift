public import Connection
public import Model

/// Where downloads come from: a `Connection`, or in tests a script.
public protocol FileSource: Sendable {
    /// As `Connection.get(_:request:into:)`.
    func get(
        _ path: ItemPath, request: DownloadRequest, into sink: some DownloadSink
    ) async throws -> DownloadSummary
}

extension Connection: FileSource {}
