public import Connection
public import Model

/// Where downloads come from: a `Connection`, or in tests a script.
public protocol FileSource: Sendable {
    /// As `Connection.get(_:request:into:)`.
    /// - Throws: As `Connection.get`: `ConnectionError`, or what the sink threw.
    func get(
        _ path: ItemPath, request: DownloadRequest, into sink: some DownloadSink
    ) async throws -> DownloadSummary
    /// As `Connection.downloadThreads`.
    var downloadThreads: [any TaskExecutor] { get }
}

extension FileSource {
    /// None: the engine has threads of its own.
    public var downloadThreads: [any TaskExecutor] { [] }
}

extension Connection: FileSource {}
