public import Connection
public import Model

/// The source of downloads: a connection's `Downloads`, or a script in tests.
public protocol FileSource: Sendable {
    /// Downloads a file, as `Downloads.get(_:request:into:)` does.
    /// - Throws: As `Downloads.get`: `ConnectionError`, or the error that the sink threw.
    func get(
        _ path: ItemPath, request: DownloadRequest, into sink: some DownloadSink
    ) async throws -> DownloadSummary
    /// Downloads a file, beginning with the answer to a request that was sent before, as
    /// `Downloads.get(_:request:after:into:)` does.
    func get(
        _ path: ItemPath, request: DownloadRequest, after first: FirstAnswer?, into sink: some DownloadSink
    ) async throws -> DownloadSummary
    /// Whether small files can be downloaded in batches now, as `Downloads.takesBatches`.
    var takesBatches: Bool { get }
    /// Downloads small files in a batch, as `Downloads.download(_:for:)` does.
    func download(_ batch: FileBatch, for receiver: any FileBatchReceiver) -> (any FileBatchRun)?
    /// Returns the number of files that it helps to download at the same time, as `Downloads.downloadsAtOnce(_:)`.
    func downloadsAtOnce(_ size: SizeClass) -> Int
    /// The threads on which downloads arrive, as `Downloads.downloadThreads`.
    var downloadThreads: [any TaskExecutor] { get }
}

extension FileSource {
    public func get(
        _ path: ItemPath, request: DownloadRequest, after first: FirstAnswer?, into sink: some DownloadSink
    ) async throws -> DownloadSummary { try await get(path, request: request, into: sink) }

    /// False.
    public var takesBatches: Bool { false }

    /// Nil: the source has no batches.
    public func download(_ batch: FileBatch, for receiver: any FileBatchReceiver) -> (any FileBatchRun)? { nil }

    /// As many as the limits allow.
    public func downloadsAtOnce(_ size: SizeClass) -> Int { Limits.mostByItself }

    /// An empty list: the engine uses threads of its own.
    public var downloadThreads: [any TaskExecutor] { [] }
}

extension Downloads: FileSource {}
