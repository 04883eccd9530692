import Database
import LocalTree
public import Model
import Threads

extension AccountReader {
    /// Writes the content of a file's local copy to another file, with the rights of this process.
    /// - Parameters:
    ///   - path: The path of the item.
    ///   - target: The path of the file to write, absolute or relative to the process's working folder.
    /// - Throws: `.failed` if the file has no copy or the copy differs from the server's version, `.cannotCreate` if no
    ///   file can be created at the target, `.localIO` if reading or writing fails, and as ``status()``.
    /// - Returns: The digest of the content.
    @discardableResult
    public func export(_ path: ItemPath, to target: String) async throws(Failure) -> [UInt8] {
        let item = try await read { try $0.items.item(at: path) }
        guard let item, item.cloudStatus == .localCopy, let copy = item.copy else {
            throw Failure(.failed, "\(path) has no unchanged copy here: \(target) was not written")
        }
        let export = CopyExport(fromTree: bookmark.files)
        do { try await runBlocking { try export.write(path, digest: copy.digest, to: target) } } catch {
            throw Failure(of: error)
        }
        return copy.digest
    }
}
