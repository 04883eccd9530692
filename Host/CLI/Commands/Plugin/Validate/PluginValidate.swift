import ArgumentParser
import Glibc
import Model
import Threads
import Validator

struct PluginValidate: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate", abstract: "Check that a plugin keeps the rules of the interface.",
        usage: "larder plugin validate <library> [--only <check>]... [--strict] [--waivers <file>] [--fuzz <duration>]",
        discussion: """
            Makes some sixty checks of a library, each in a process of its own: of the file, of loading, of an \
            instance's life, of items, services, loops and threads. What fails is told with the plugin, the item, the \
            number of the call and what the check was doing. A warning does not make the validation fail, except with \
            --strict. Waivers are lines with the id of a check and the reason why what it finds is accepted. With --fuzz, \
            random lives of the plugin follow for a while; what one of them finds is repeated with --reproduce, in this \
            process, so that a debugger sees it. The plugin's processes cannot start others, and have limits.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The plugin's library.", completion: .file()) var library: String
    @Option(
        help: ArgumentHelp(
            "The id of a check, or a part of the checks. May be given several times.", valueName: "check"),
        completion: .list(PluginCheck.all.map(\.id) + PluginCheck.Part.allCases.map(\.rawValue)))
    var only: [String] = []
    @Option(help: ArgumentHelp("The seed of all random numbers.", valueName: "number")) var seed: UInt64 = 1
    @Option(help: ArgumentHelp("Repeat a random life, in this process.", valueName: "seed")) var reproduce: UInt64?
    @Option(help: ArgumentHelp("Go through random lives for so long, such as 30s or 10m.", valueName: "duration"))
    var fuzz: String?
    @Flag(help: "Count warnings as failures.") var strict = false
    @Flag(help: "Print the Test Anything Protocol.") var tap = false
    @Option(
        help: ArgumentHelp("A file with waivers: `PV02 reason` on each line.", valueName: "file"), completion: .file())
    var waivers: String?
    @Option(help: .hidden) var check: String?
    @Option(name: .customLong("in"), help: .hidden) var folder: String?
    @Option(name: .customLong("lives"), help: .hidden) var lives: Int64?

    private var path: String {
        ConfigPaths.tidied(library.hasPrefix("/") ? library : currentFolder() + "/" + library)
    }

    /// Makes a check in this process if that is what the process is for. Blocks.
    ///
    /// Called before the first task: a check counts the threads of the process, and those of the concurrency pool start
    /// when they like.
    /// - Returns: Whether it is.
    static func makeCheck(_ arguments: [String]) -> Bool {
        guard arguments.starts(with: ["plugin", "validate"]), arguments.contains("--in"),
            let command = try? parse(Array(arguments.dropFirst(2))), let folder = command.folder
        else { return false }
        CheckProcess.make(
            command.check, library: command.path, seed: command.seed, folder: folder, lives: command.lives)
        return true
    }

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let path = path
        guard !tap || !global.isJSON else { throw Failure(.usage, "the results are printed with --tap or with --json") }
        guard access(path, R_OK) == 0 else { throw .reading(library, errno) }
        guard reproduce == nil || fuzz == nil else {
            throw Failure(.usage, "random lives are begun with --fuzz, or one is repeated with --reproduce")
        }
        if let reproduce { return try await repeatLife(reproduce, of: path, console) }
        let checks = try Self.checks(only)
        if let reason = PluginCheck.refusal(of: path), !checks.contains(where: { $0.id == "PV01" }) {
            throw Failure(.badData, "\(library): \(reason)")
        }
        let waived = try Waivers(reading: waivers)
        let time = try fuzz.map { text throws(Failure) in try CLIArgument.duration(text, of: "--fuzz") }
        let report = ValidationReport(
            form: tap ? .tap : global.isJSON ? .json : .text, checks: checks, seed: seed, isStrict: strict, waived,
            library: library)
        let validation = await runBlocking { [seed] in
            Validation(library: path, seed: seed, command: [BuiltIn.executable, "plugin", "validate", path])
        }
        let failure = try await endingWithSignals { () async throws(Failure) in
            report.begin(console)
            try await validation.make(checks) { report.show($0, $1, console) }
            if let time { try await validation.live(for: time, report, console) }
        }
        if let failure { throw failure }
        return report.end(console)
    }

    /// Returns the checks that are named by their ids or parts; all without names.
    private static func checks(_ names: [String]) throws(Failure) -> [PluginCheck] {
        guard !names.isEmpty else { return PluginCheck.all }
        var chosen: Set<String> = []
        for name in names {
            let found = PluginCheck.all.filter { $0.id == name.uppercased() || $0.part.rawValue == name.lowercased() }
            guard !found.isEmpty else {
                let known = PluginCheck.all.map(\.id) + PluginCheck.Part.allCases.map(\.rawValue)
                let meant = nearestName(to: name, among: known).map { "did you mean `\($0)`? " } ?? ""
                throw Failure(
                    .usage, "--only: there is no check `\(Text.visible(name))`",
                    hint: meant + "a check has an id, such as PV40, and a part: "
                        + PluginCheck.Part.allCases.map(\.rawValue).joined(separator: ", "))
            }
            chosen.formUnion(found.map(\.id))
        }
        return PluginCheck.all.filter { chosen.contains($0.id) }
    }

    /// Goes through one random life again.
    private func repeatLife(_ seed: UInt64, of path: String, _ console: Console) async throws(Failure) -> [Failure] {
        let folder = try TemporaryFolder(named: "larder-validate")
        let outcome = await runBlocking { () -> Result<CheckOutcome, Failure> in
            defer { folder.remove() }
            do throws(Failure) {
                let site = try CheckSite(library: path, seed: seed, folder: folder.path)
                return .success(CheckProcess.onPluginThread { RandomLives.repeatLife(seed, site) })
            } catch {
                return .failure(error)
            }
        }
        switch try outcome.get() {
        case .passed:
            console.print("The random life \(seed) is in order.")
            return []
        case .skipped(let reason): throw Failure(.badData, "the random life \(seed) cannot begin: \(reason)")
        case .found(let finding):
            for line in ValidationReport.lines(of: finding, seed: seed) { console.print(line) }
            return [Failure(.failed, "the random life \(seed) found something")]
        }
    }

    /// Runs a body until it ends or a signal comes that ends the command.
    private func endingWithSignals(
        _ body: @escaping @Sendable () async throws(Failure) -> Void
    ) async throws(Failure) -> Failure? {
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        let ended = await withTaskGroup(of: (code: Int32, failure: Failure?).self) { group in
            group.addTask {
                for await signal in ends { return (128 + signal, nil) }
                return (0, nil)
            }
            group.addTask {
                do throws(Failure) { try await body() } catch { return (0, error) }
                return (0, nil)
            }
            // The processes of checks that are cancelled are ended, and their folders removed, before this one ends.
            let first = await group.next()
            group.cancelAll()
            _ = await group.next()
            return first ?? (0, nil)
        }
        if ended.code != 0 { ProcessSetup.leave(ended.code) }
        return ended.failure
    }
}
