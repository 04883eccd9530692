public import Connection
public import Model

/// The server that actions change: a connection's `Writes`, or a script in tests. Each function does as the
/// function of `Writes` or `Listings` with its name.
public protocol ChangeServer: Sendable {
    /// Creates a folder.
    func makeFolder(_ path: ItemPath) async throws(ConnectionError) -> WriteOutcome
    /// Deletes a file or folder. A file is only deleted if it still is this version, where there is one.
    func delete(_ path: ItemPath, isFolder: Bool, version: ETag?) async throws(ConnectionError) -> WriteOutcome
    /// Moves a file or folder to a path at which there is nothing.
    func move(_ from: ItemPath, to: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome
    /// Copies a file or folder to a path at which there is nothing.
    func copy(_ from: ItemPath, to: ItemPath, isFolder: Bool) async throws(ConnectionError) -> WriteOutcome
    /// Sets or removes the mark of a favorite.
    func setFavorite(_ path: ItemPath, _ isFavorite: Bool) async throws(ConnectionError) -> WriteOutcome
    /// Sets the modification time of a file, if it still is this version, where there is one.
    func setModificationTime(
        _ path: ItemPath, _ time: Timestamp, version: ETag?
    ) async throws(ConnectionError) -> WriteOutcome
    /// Uploads a file.
    func upload(
        _ path: ItemPath, _ request: UploadRequest, from source: some UploadSource,
        resuming resumption: UploadResumption, after first: FirstAnswer?,
        progress: @escaping @Sendable (Int64) -> Void
    ) async throws -> WriteOutcome
    /// Returns the number of files that it helps to upload at the same time.
    func uploadsAtOnce(_ size: SizeClass) -> Int
    /// Whether small files can be uploaded in batches now.
    var takesUploadBatches: Bool { get }
    /// Tells whether a file can be uploaded with others.
    func mayUploadInBatch(_ file: BatchedUpload) -> Bool
    /// Uploads small files together.
    /// - Returns: nil if files cannot be uploaded in batches now.
    func upload(_ files: [BatchedUpload], for receiver: any UploadBatchReceiver) -> (any FileBatchRun)?
    /// Has the server drop an upload that nobody goes on with.
    func terminate(_ upload: ResumableUpload) async
    /// Finds out what the server holds after an upload.
    func confirm(
        _ upload: AnsweredUpload, among entries: @Sendable () async -> Int
    ) async throws(ConnectionError) -> ConfirmedUpload
    /// Finds out what the server holds after uploads into one folder. What is missing in the result is to be asked for
    /// alone.
    func confirm(
        in folder: ItemPath, _ uploads: [AnsweredUpload], among entries: @Sendable () async -> Int
    ) async -> [ItemPath: ConfirmedUpload]
    /// What the server does differently when something is written.
    var writingManners: WritingManners { get }
    /// Finds out whether the server leaves names that begin with a dot out of its listings.
    func leavesOutDotNames() async throws(ConnectionError) -> Bool
    /// Returns what the server holds at a path; nil if it holds nothing there.
    func held(at path: ItemPath) async throws(ConnectionError) -> HeldItem?
    /// Lists a folder's own entries.
    func list(
        _ folder: ItemPath, depth: Depth, onBatch: ([ListedItem]) async throws -> Void
    ) async throws -> Listing
}

extension ChangeServer {
    /// As many as the limits allow.
    public func uploadsAtOnce(_ size: SizeClass) -> Int { Limits.mostByItself }
}

extension Writes: ChangeServer {
    public func held(at path: ItemPath) async throws(ConnectionError) -> HeldItem? {
        try await listings.held(at: path)
    }

    public func list(
        _ folder: ItemPath, depth: Depth, onBatch: ([ListedItem]) async throws -> Void
    ) async throws -> Listing { try await listings.list(folder, depth: depth, onBatch: onBatch) }
}
