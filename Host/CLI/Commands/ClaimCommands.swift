import ArgumentParser
import Core
import Model

struct ClaimCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "claim", abstract: "Say that a local copy is needed, so that nothing removes it.",
        subcommands: [ClaimAdd.self, ClaimList.self, ClaimRemove.self])
}

struct ClaimAdd: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Claim a file's local copy.",
        discussion: """
            A claim is the file's, wherever it is moved, and fetches nothing. `read` is for who needs some version of it, the \
            newest if possible; `write` for who needs this version as it is; `delete` for who needs some version. A claim \
            with the id of one of the same file takes its place.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The file's path on the server.") var path: String
    @Option(help: ArgumentHelp("read, write or delete.", valueName: "type")) var type: String
    @Option(
        help: ArgumentHelp(
            "Valid before this time, such as 2026-12-24T18:00:00Z. Else until removed.", valueName: "time"))
    var until: String?
    @Option(help: ArgumentHelp("Valid while this process lives.", valueName: "pid")) var pid: Int32?
    @Option(help: ArgumentHelp("The claim's id; a random one if it is left out.", valueName: "id")) var id: String?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        guard let kind = Claim.Kind(name: type) else {
            throw Failure(.usage, "--type: `\(Text.visible(type))` is none of read, write, delete")
        }
        let validity = try validity()
        let id = try id.map { text throws(Failure) in try Self.id(text) }
        let report = try await withAccount(global, console) { host throws(Failure) in
            try await host.perform(Claims.Add(path, as: kind, validity, id: id))
        }
        console.print(
            global.isJSON
                ? JSON(report).rendered : "\(Text.visible(path.text)) is claimed: \(report.claim.id), \(report.lasts)")
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
                    .usage, "--until: `\(Text.visible(text))` is no time", hint: "write one as 2026-12-24T18:00:00Z")
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

struct ClaimList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the claims that hold, without network.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "Only claims of this file, or of all below this folder.") var path = "/"

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = try CLIArgument.path(path)
        guard let reader = try global.loadConfig().oneAccount().reader() else { return [] }
        let reports = try await reader.claims(at: path)
        try reader.close()
        if global.isJSON {
            for report in reports { console.print(JSON(report)) }
            return []
        }
        // An id may be longer than a line.
        var table = Table(["path", "type", "valid", "id"])
        for report in reports {
            table.add([report.path.text, report.claim.kind.name, report.lasts, report.claim.id.text])
        }
        for line in table.lines { console.print(line) }
        return []
    }
}

struct ClaimRemove: LarderCommand {
    static let configuration = CommandConfiguration(commandName: "remove", abstract: "Take a claim back.")

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The claim's id, as `claim list` shows it.") var id: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await withAccount(global, console) { host throws(Failure) in
            try await host.perform(Claims.Remove(ClaimID(id)))
        }
        console.print(
            global.isJSON ? JSON.object(["id": .text(id)]).rendered : "claim \(Text.visible(id)): taken back")
        return []
    }
}

extension ClaimReport {
    /// How long the claim lasts, for people.
    fileprivate var lasts: String {
        switch claim.validity {
        case .explicit: "until it is removed"
        case .until(let time): "until \(Text.time(time))"
        case .process(let process): "while process \(process.pid) lives"
        case .all, .any, .not: "under several conditions"
        }
    }
}

extension JSON {
    init(_ report: ClaimReport) {
        var until: Timestamp?
        var pid: Int64?
        switch report.claim.validity {
        case .until(let time): until = time
        case .process(let process): pid = Int64(process.pid)
        case .explicit, .all, .any, .not: break
        }
        self = .object([
            "id": .text(report.claim.id.text), "path": .text(report.path.text), "type": .text(report.claim.kind.name),
            "until": .time(until), "pid": .int(pid),
        ])
    }
}
