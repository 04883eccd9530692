public import Connection
public import Model

/// The source of downloads: a `Connection`, or a script in tests.
public protocol FileSource: Sendable {
    /// Downloads a file, as `Connection.get(_:request:into:)` does.
    /// - Throws: As `Connection.get`: `ConnectionError`, or the error that the sink threw.
    func get(
        _ path: ItemPath, request: DownloadRequest, into sink: some DownloadSink
    ) async throws -> DownloadSummary
    /// The threads on which downloads arrive, as `Connection.downloadThreads`.
    var downloadThreads: [any TaskExecutor] { get }
}

extension FileSource {
    /// An empty list: the engine uses threads of its own.
    public var downloadThreads: [any TaskExecutor] { [] }
}

extension Connection: FileSource {}
