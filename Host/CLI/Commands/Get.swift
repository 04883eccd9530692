import ArgumentParser
import Core
import Model
import Threads

struct Get: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Download a file, or everything below a folder.",
        discussion: """
            A file whose newest version is here already costs no request. A file that was changed here is not \
            overwritten: an issue asks what to do. If the config says so, the copy is removed again some time after \
            its last use.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The path on the server.", completion: .itemPath) var path: String
    @Option(help: ArgumentHelp("Copy the file's content to this file as well.", valueName: "file")) var to: String?
    @Flag(help: "Download it now (the default).") var wait = false
    @Flag(help: "Leave the download to the running host or the next run.") var queue = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        if wait, queue { throw Failure(.usage, "--wait and --queue exclude each other") }
        if queue, to != nil { throw Failure(.usage, "--to needs the file at once and cannot be combined with --queue") }
        var outcome = try await carryOut(Copies.Get(path, waits: !queue), global, console, asksServer: !queue)
        if let to, outcome.failures.isEmpty, outcome.issues.isEmpty {
            guard outcome.files == [path] else {
                throw Failure(.badData, "\(path) is a folder: --to takes one file", hint: "Name a file in the folder")
            }
            do throws(Failure) { try await export(path, to: to, console) } catch { outcome.failures.append(error) }
        }
        try await tell(path, outcome, console)
        return outcome.failures + outcome.issues.map { Failure($0) }
    }

    /// Copies the file with this command's own rights, whichever process has fetched it. Which version it has is noted
    /// afterwards: the note from before is the right one until then.
    private func export(_ path: ItemPath, to target: String, _ console: Console) async throws(Failure) {
        let digest = try await global.withReader { reader throws(Failure) in
            try await reader.export(path, to: target)
        }
        guard let digest else { throw Failure(.notFound, "no account") }
        guard let file = await runBlocking({ Snapshots.source(target) }) else { return }
        try await carryOut(Copies.NoteExport(path, to: file, digest: digest), global, console)
    }

    private func tell(_ path: ItemPath, _ outcome: GetOutcome, _ console: Console) async throws(Failure) {
        if global.isJSON {
            try await global.withReader { reader throws(Failure) in
                for file in outcome.files { console.print(JSONValue(try await reader.item(at: file))) }
            }
            return
        }
        let name = Text.visible(path.text)
        let what = outcome.files == [path] ? name : "\(Text.count(outcome.files.count, "file")) below \(name)"
        if queue {
            let waiting =
                outcome.waiting == 0
                ? "nothing to fetch" : "\(outcome.waiting) to be fetched by the running host or the next run"
            console.print("\(what): \(waiting)")
        } else if outcome.failures.isEmpty, outcome.issues.isEmpty {
            console.print("\(what): here")
        }
    }
}
