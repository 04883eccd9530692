import Connection
import Database
import Digests
import LocalTree
import Model

/// The ways in which an action finds out what the server has at a place of its change.
extension ChangeAction {
    /// The number of bytes that are read at most to compare the contents of two trees. A person is asked about more.
    static var mostCompared: Int64 { 256 << 20 }

    /// Lists what the server has at a path and below it.
    /// - Parameter place: The path under which the entries are kept; nil for their own.
    /// - Returns: nil if nothing is there.
    func tree(at path: ItemPath, as place: ItemPath? = nil) async throws -> ServerTree? {
        guard let held = try await server.held(at: path) else { return nil }
        let place = place ?? path
        var tree = ServerTree(place)
        tree.add(held.item, at: place)
        var folders = held.item.kind == .folder ? [path] : []
        while let folder = folders.popLast() {
            do {
                let listing = try await server.list(folder, depth: .one) { entries in
                    for entry in entries {
                        tree.add(entry, at: entry.path.moved(from: path, to: place))
                        if entry.kind == .folder { folders.append(entry.path) }
                    }
                }
                tree.unlisted += listing.unlisted.map { $0.moved(from: path, to: place) }
                if listing.isForeign || listing.refusedCount > 0 || !listing.unlisted.isEmpty { tree.isWhole = false }
            } catch let error as ConnectionError where error.kind == .notFound {
                // The folder went meanwhile. Another check shows what is there then.
                tree.isWhole = false
            }
        }
        return tree
    }

    /// A digest of what was seen, by which the next check is compared.
    func digest(of trees: ServerTree?...) -> String {
        var hash = ContentHash()
        for tree in trees {
            Array((tree?.summary ?? "").utf8 + [0]).withUnsafeBytes { hash.update($0) }
        }
        return hexadecimal(hash.digest)
    }

    /// Tells whether the files of two trees have the same contents, by checksums where the server tells them, else by
    /// reading.
    /// - Parameter isThere: Whether the server still has what is wanted. If not, only the copies here tell its contents.
    /// - Returns: nil if that cannot be told, or there is more to read than is read for such a question.
    func haveSameContents(_ wanted: ServerTree, isThere: Bool, _ shown: ServerTree) async throws -> Bool? {
        // What no listing shows cannot be compared.
        guard wanted.isWhole, shown.isWhole else { return nil }
        let files = wanted.files
        var bytes: Int64 = 0
        for file in files {
            guard let size = file.size else { return nil }
            bytes = bytes.adding(size)
        }
        guard bytes <= Self.mostCompared else { return nil }
        for (place, file) in wanted.entries where file.kind == .file {
            guard let other = shown.entries[place], other.kind == .file, other.size == file.size else { return false }
            guard try await isSameContent(file, isThere: isThere, other) else { return false }
        }
        return true
    }

    private func isSameContent(_ file: ListedItem, isThere: Bool, _ other: ListedItem) async throws -> Bool {
        if isThere, server.writingManners.isFamily {
            let (one, two) = (try await server.held(at: file.path), try await server.held(at: other.path))
            guard let one, let two else { return false }
            if let isEqual = one.checksums.equals(two.checksums) { return isEqual }
        }
        guard let digest = try await contentDigest(of: file, mayRead: isThere) else { return false }
        return try await contentDigest(of: other, mayRead: true) == digest
    }

    /// Returns the SHA-256 of a file's content: that of the copy here, or of what the server sends.
    /// - Returns: nil if the file is another one by now, or must not be read.
    private func contentDigest(of file: ListedItem, mayRead: Bool) async throws -> [UInt8]? {
        let item = try await database.read { try $0.items.item(at: file.path) }
        if let copy = item?.copy, copy.etag == file.etag, copy.mark.size == file.size { return copy.digest }
        guard mayRead else { return nil }
        let sink = DigestSink()
        do {
            _ = try await context.source.get(
                file.path,
                request: DownloadRequest(version: file.etag, size: file.size, lastModified: file.lastModified),
                into: sink)
        } catch let error as ConnectionError where error.kind == .versionChanged || error.kind == .notFound {
            return nil
        }
        return sink.digest
    }
}

/// A sink that only computes the digest of what it gets.
final class DigestSink: DownloadSink {
    private var hash = ContentHash()

    var digest: [UInt8] { hash.digest }

    func begin(_ head: DownloadHead) throws {}
    func write(_ bytes: UnsafeRawBufferPointer) throws { hash.update(bytes) }
}
