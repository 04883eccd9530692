import DemoServer

/// The bytes of a body as they arrive. They go into memory or, if there are many, into a file of the server's own. A
/// copy is an earlier state: it can take the place of the later one.
struct Spool: Sendable {
    /// The number of bytes up to which a body stays in memory.
    static let inMemory = 1 << 20

    private(set) var size = 0
    private let folder: String
    /// The bytes that are not in the file.
    private var pending: [UInt8] = []
    private var file: ScratchFile?
    private var digests: [Digest]

    /// - Parameters:
    ///   - folder: The folder for the file.
    ///   - kind: The kind of the checksum that is computed besides SHA-1; nil for none.
    init(in folder: String, kind: Checksum.Kind?) {
        self.folder = folder
        digests = Checksum.Kind.kept(with: kind).map(Digest.init)
    }

    mutating func append(_ chunk: [UInt8]) async throws {
        chunk.withUnsafeBytes { bytes in
            for index in digests.indices { digests[index].update(bytes) }
        }
        size += chunk.count
        pending += chunk
        if pending.count > Self.inMemory { try await flush() }
    }

    /// Returns the whole content.
    mutating func content() async throws -> Content {
        let sums = digests.map(Checksum.init)
        guard file != nil else { return Content(pending, sums) }
        try await flush()
        guard let file else { return .none }
        return Content(at: file, size: size, sums)
    }

    private mutating func flush() async throws {
        let target: ScratchFile
        if let file { target = file } else { target = try await ScratchFile(in: folder) }
        file = target
        try await target.write(pending, at: size - pending.count)
        pending = []
    }
}
