import ArgumentParser
import Core
import Model
import Threads

struct Put: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "put", abstract: "Upload a file.",
        discussion: """
            A snapshot of the file is taken at once, so that the file may be changed or removed afterwards. The uploaded \
            file is then also a copy here, as if it had been downloaded. A file on the server is not overwritten, unless \
            --replace makes a new version of it; if somebody has changed it meanwhile, an issue asks what to do.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The file on this machine.", completion: .file()) var file: String
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Flag(help: "Make a new version if there is such a file on the server.") var replace = false
    @OptionGroup var options: ChangeOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        let bookmark = try global.loadConfig().oneAccount().bookmark
        // The file is read with this command's own rights, whichever process uploads it.
        let taken = await runBlocking { [file] () -> Result<(snapshot: TakenSnapshot, lock: any Sendable), Failure> in
            do throws(Failure) { return .success(try Snapshots.take(of: file, for: bookmark)) } catch {
                return .failure(error)
            }
        }
        let (snapshot, lock) = try taken.get()
        defer { withExtendedLifetime(lock) {} }
        return try await make(
            .put(snapshot, path, replaces: replace), showing: path, "uploaded", options, global, console
        ) {
            await runBlocking { Snapshots.discard(snapshot, of: bookmark) }
        }
    }
}
