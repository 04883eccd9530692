import ArgumentParser
import Core
import Model

struct ClaimAdd: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Claim a file's local copy.",
        discussion: """
            A claim stays with its file when the file is moved. It does not download the file. Use `read` to keep any \
            version of the copy, preferably the newest; `write` to keep exactly this version; `delete` to keep any \
            version. A claim replaces an earlier claim of the same file that has the same id.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The file's path on the server.", completion: .itemPath) var path: String
    @Option(help: ArgumentHelp("read, write or delete.", valueName: "type")) var type: String
    @Option(
        help: ArgumentHelp(
            "Valid until this time, such as 2026-12-24T18:00:00Z. Default: until removed.", valueName: "time"))
    var until: String?
    @Option(help: ArgumentHelp("Valid while this process is running.", valueName: "pid")) var pid: Int32?
    @Option(help: ArgumentHelp("The claim's id. Default: a random id.", valueName: "id")) var id: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try await global.itemPath(path)
        guard let kind = Claim.Kind(name: type) else {
            throw Failure(.usage, "--type: `\(Text.visible(type))` is not one of read, write, delete")
        }
        let validity = try validity()
        let id = try id.map { text throws(Failure) in try Self.id(text) }
        let report = try await carryOut(Claims.Add(path, as: kind, validity, id: id), global, console)
        console.print(
            global.isJSON
                ? JSONValue(report).text : "\(Text.visible(path.text)) is claimed: \(report.claim.id), \(report.lasts)")
        return []
    }

    private func validity() throws(Failure) -> ClaimValidity {
        switch (until, pid) {
        case (_?, _?): throw Failure(.usage, "--until and --pid exclude each other")
        case (nil, nil): return .explicit
        case (nil, let pid?): return try .whileAlive(pid)
        case (let text?, nil):
            guard let time = Timestamp(rfc3339: text) else {
                throw Failure(
                    .usage, "--until: `\(Text.visible(text))` is not a time", hint: "write it as 2026-12-24T18:00:00Z")
            }
            return .until(time)
        }
    }

    private static func id(_ text: String) throws(Failure) -> ClaimID {
        guard (1...128).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else { throw Failure(.badData, "--id: an id has 1 to 128 bytes and no control characters") }
        return ClaimID(text)
    }
}
