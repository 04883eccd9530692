import ArgumentParser
import Core
import Model
import Threads

struct Put: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Upload files, or folders and everything below them.",
        usage: "larder put [<options>] <file> ... <path>",
        discussion: """
            One file or folder gets the path on the server. Several, and a file with a path that ends with a slash, go \
            into the folder at the path, which must exist on the server, each under its own name.

            A snapshot of the file is taken at once, so that the file may be changed or removed afterwards. The uploaded \
            file is then also a copy here, as if it had been downloaded. A file on the server is not overwritten, unless \
            --replace makes a new version of it. The version that it replaces is the one that FILE was copied from with \
            `get --to FILE`, else that of the copy here, else the one that was listed last; --if names another. If the \
            server has another version by then, an issue asks what to do.

            Of a folder all files and folders below are uploaded, into the folder of that path on the server, which may \
            exist. Symbolic links, sockets and devices below it are named and left out.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "The files and folders on this machine, and at last the path on the server.", valueName: "file ... path"),
        completion: .fileOrItemPath)
    var names: [String]
    @Flag(help: "Make a new version if there is such a file on the server.") var replace = false
    @Option(
        name: .customLong("if"),
        help: ArgumentHelp("Make a new version only if the server still has this one.", valueName: "etag"))
    var version: String?
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        guard let place = names.last, names.count > 1 else {
            throw Failure(.usage, "put needs a file on this machine and a path on the server", hint: "put FILE… PATH")
        }
        let (files, path) = (Array(names.dropLast()), try await global.itemPath(place))
        let replacing = try version.map { field throws(Failure) in
            guard let etag = ETag(field: field) else {
                throw Failure(.usage, "--if needs a version, such as stat shows")
            }
            return etag.opaque
        }
        let account = try global.loadConfig().oneAccount()
        try await account.refuseAwayVault()
        let bookmark = account.bookmark
        let withSHA1 = await account.mayHaveFamilyServer()
        let file = files[0]
        // The files are read with this command's own rights, whichever process uploads them.
        let folder = await runBlocking {
            files.count == 1 ? UploadedFiles(folder: file, to: path, withSHA1: withSHA1) : nil
        }
        if folder != nil || files.count > 1 || place.hasSuffix("/") {
            guard replacing == nil else {
                throw Failure(.usage, "--if names the version of one file, which needs a path of its own")
            }
            if let folder { return try await upload(folder, of: bookmark, console) }
            try await checkFolder(path, of: account)
            return try await upload(try UploadedFiles(files, into: path, withSHA1: withSHA1), of: bookmark, console)
        }
        let taken = await runBlocking { [file] () -> Result<(snapshot: TakenSnapshot, lock: any Sendable), Failure> in
            do throws(Failure) {
                return .success(try Snapshots.take(of: file, to: path, for: bookmark, withSHA1: withSHA1))
            } catch {
                return .failure(error)
            }
        }
        let (taking, lock) = try taken.get()
        let snapshot = taking.replacing(replacing)
        defer { withExtendedLifetime(lock) {} }
        return try await make(
            .put(snapshot, path, replaces: replace || replacing != nil), showing: path, "uploaded", options, global,
            console
        ) {
            await runBlocking { Snapshots.discard(snapshot, of: bookmark) }
        }
    }

    /// Checks that several files can go into a folder, as far as is known without the server.
    private func checkFolder(_ folder: ItemPath, of account: AccountConfig) async throws(Failure) {
        if folder.isRoot { return }
        let known = try await account.withReader { reader throws(Failure) in try await reader.item(at: folder) }
        guard known?.item.kind ?? .folder == .folder else {
            throw Failure(
                .badData, "\(folder) is a file, and the files to upload go into a folder",
                hint: "Name a folder on the server as the last argument")
        }
    }
}

extension AccountConfig {
    /// Tells whether the account's server may be of the ownCloud family, as far as it is known without asking it.
    fileprivate func mayHaveFamilyServer() async -> Bool {
        // A database that cannot be read now is reported by what writes it.
        (try? await withReader { reader throws(Failure) in try await reader.mayHaveFamilyServer() }) ?? true
    }
}
