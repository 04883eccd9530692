import Glibc
import Model
import Synchronization
import Validator

/// Whether a task was cancelled, for a thread that works for it.
final class Cancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .relaxed) }

    func set() { flag.store(true, ordering: .relaxed) }
}

/// What a validation prints.
final class ValidationReport: Sendable {
    enum Form: Sendable { case text, json, tap }

    private enum Result: String { case passed, failed, warning, skipped, waived }

    private struct State {
        var part: PluginCheck.Part?
        var counts: [Result: Int] = [:]
        var failed: [String] = []
        var number = 0
        var isNoLibrary = false
        var unusedWaivers: [String]
    }

    private let form: Form
    private let count: Int
    private let seed: UInt64
    private let isStrict: Bool
    private let waivers: Waivers
    private let library: String
    private let state: Mutex<State>

    init(
        form: Form, checks: [PluginCheck], seed: UInt64, isStrict: Bool, _ waivers: Waivers, library: String
    ) {
        (self.form, self.seed, self.isStrict) = (form, seed, isStrict)
        (count, self.waivers, self.library) = (checks.count, waivers, library)
        state = Mutex(State(unusedWaivers: waivers.ids.filter { id in checks.contains { $0.id == id } }))
    }

    func begin(_ console: Console) {
        guard form == .tap else { return }
        console.print("TAP version 13")
        console.print("1..\(count)")
    }

    /// Prints the outcome of a check.
    func show(_ check: PluginCheck, _ outcome: CheckOutcome, _ console: Console) {
        let result = result(of: check, outcome)
        let isNewPart = state.withLock { state in
            defer { state.part = check.part }
            state.counts[result, default: 0] += 1
            state.number += 1
            if result == .failed { state.failed.append(check.id) }
            if result == .failed, check.id == "PV01" { state.isNoLibrary = true }
            if result == .waived { state.unusedWaivers.removeAll { $0 == check.id } }
            return state.part != check.part
        }
        switch form {
        case .text:
            if isNewPart { console.print(check.part.title) }
            console.print("  \(Self.pad(result.rawValue))  \(check.id)  \(check.claim)")
            for line in Self.details(outcome, seed: seed) { console.print("                 \(line)") }
            if result == .waived, let reason = waivers[check.id] { console.print("                 waived: \(reason)") }
        case .json: console.print(json(check, result, outcome))
        case .tap: showTAP(check, result, outcome, console)
        }
        // The next one may take its time.
        console.send()
    }

    private func result(of check: PluginCheck, _ outcome: CheckOutcome) -> Result {
        switch outcome {
        case .passed: .passed
        case .skipped: .skipped
        case .found:
            waivers[check.id] != nil ? .waived : check.isWarning && !isStrict ? .warning : .failed
        }
    }

    private static func pad(_ word: String) -> String {
        word + String(repeating: " ", count: max(0, 7 - word.utf8.count))
    }

    /// What a outcome says beyond whether the check passed.
    private static func details(_ outcome: CheckOutcome, seed: UInt64) -> [String] {
        switch outcome {
        case .passed: []
        case .skipped(let reason): [reason]
        case .found(let finding): lines(of: finding, seed: seed)
        }
    }

    /// Returns a finding as lines for people.
    static func lines(of finding: Finding, seed: UInt64) -> [String] {
        var lines = [(finding.plugin.map { "\($0): " } ?? "") + finding.what]
        let places = [
            finding.doing.map { $0.hasPrefix("without ") ? $0 : "with \($0)" }, finding.item.map { "about \($0)" },
            finding.call.map { "after \($0) calls" },
            "seed \(seed)",
        ]
        lines.append(places.compactMap(\.self).joined(separator: "; "))
        if let advice = finding.advice { lines.append(advice) }
        return lines
    }

    private func json(_ check: PluginCheck, _ result: Result, _ outcome: CheckOutcome) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(name: "check", value: .string(check.id)), .init(name: "part", value: .string(check.part.rawValue)),
            .init(name: "claim", value: .string(check.claim)), .init(name: "result", value: .string(result.rawValue)),
        ]
        switch outcome {
        case .passed: break
        case .skipped(let reason): members.append(.init(name: "reason", value: .string(reason)))
        case .found(let finding):
            members += finding.members + [.init(name: "seed", value: .string(String(seed)))]
            if let reason = waivers[check.id] { members.append(.init(name: "waiver", value: .string(reason))) }
        }
        return .object(members)
    }

    private func showTAP(_ check: PluginCheck, _ result: Result, _ outcome: CheckOutcome, _ console: Console) {
        let number = state.withLock(\.number)
        let claim = check.claim.replacing("#", with: "\\#")
        var line =
            "\(result == .failed || result == .warning || result == .waived ? "not ok" : "ok") \(number) - \(check.id) \(claim)"
        if case .skipped(let reason) = outcome { line += " # SKIP \(Self.oneLine(reason))" }
        if result == .warning { line += " # TODO a warning" }
        if result == .waived { line += " # TODO waived: \(Self.oneLine(waivers[check.id] ?? ""))" }
        console.print(line)
        guard case .found(let finding) = outcome else { return }
        console.print("  ---")
        for member in finding.members { console.print("  \(member.name): \(member.value.text)") }
        console.print("  seed: \(seed)")
        console.print("  ...")
    }

    private static func oneLine(_ text: String) -> String { text.replacing("\n", with: " ") }

    /// Reports what came of random lives. What was found stays in a folder that repeats it.
    func show(life outcome: CheckOutcome, of library: String, _ console: Console) throws(Failure) {
        guard case .found(let finding) = outcome else {
            if case .skipped(let reason) = outcome {
                throw Failure(.failed, "no random life can begin: \(reason)")
            }
            return
        }
        let seed = RandomLives.seed(in: finding) ?? self.seed
        let kept = Swift.Result { () throws(Failure) in try Self.keep(library, seed) }
        let repeats =
            switch kept {
            case .success(let folder): "\(folder)/reproduce repeats it"
            case .failure(let failure): "--reproduce \(seed) repeats it; \(failure.message)"
            }
        state.withLock { $0.failed.append("a random life") }
        switch form {
        case .text:
            console.print("Random lives")
            for line in Self.lines(of: finding, seed: seed) { console.print("                 \(line)") }
            console.print("                 \(repeats)")
        case .json:
            console.print(
                .object(
                    [
                        .init(name: "check", value: .string("random-life")),
                        .init(name: "result", value: .string("failed")),
                        .init(name: "folder", value: (try? kept.get()).map { .string($0) } ?? .null),
                    ] + finding.members + [.init(name: "seed", value: .string(String(seed)))]))
        case .tap:
            console.print("# the random life \(seed): \(Self.oneLine(finding.what)); \(repeats)")
        }
    }

    /// Makes a folder with the library and a script that repeats a random life.
    /// - Returns: The folder's name, in the working folder.
    private static func keep(_ library: String, _ seed: UInt64) throws(Failure) -> String {
        let folder = "larder-validate-\(seed)"
        let name = String(library[(library.lastIndex(of: "/").map(library.index(after:)) ?? library.startIndex)...])
        guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
            throw Failure(.cannotCreate, "\(folder): \(errorText(errno))")
        }
        let script = """
            #!/bin/sh
            # Repeats a random life in which `larder plugin validate` found something.
            exec "${LARDER:-\(BuiltIn.executable)}" plugin validate "$(dirname "$0")"/'\(name.replacing("'", with: "'\\''"))' --reproduce \(seed) "$@"

            """
        try write(Array(script.utf8), to: folder + "/reproduce", 0o755)
        try write(try readFile(library, limit: 1 << 30), to: "\(folder)/\(name)", 0o755)
        return folder
    }

    private static func write(_ bytes: [UInt8], to path: String, _ mode: mode_t) throws(Failure) {
        unlink(path)
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw Failure(.cannotCreate, "\(path): \(errorText(errno))") }
        defer { close(file) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure(.localIO, "\(path): \(errorText(errno))") }
            written += count
        }
    }

    /// Prints the sum of all checks.
    /// - Returns: what failed.
    func end(_ console: Console) -> [Failure] {
        let state = state.withLock(\.self)
        for id in state.unusedWaivers {
            console.note("larder: the waiver of \(id) is not needed: the check found nothing")
        }
        let results: [ValidationReport.Result] = [.passed, .failed, .warning, .skipped, .waived]
        switch form {
        case .text:
            let parts = results.compactMap { result in state.counts[result].map { "\($0) \(result.rawValue)" } }
            console.print(parts.joined(separator: ", "))
        case .json:
            console.print(
                .object(results.map { .init(name: $0.rawValue, value: .integer(Int64(state.counts[$0] ?? 0))) }))
        case .tap: break
        }
        guard !state.failed.isEmpty else { return [] }
        let failed = state.failed.joined(separator: ", ")
        return [Failure(state.isNoLibrary ? .badData : .failed, "\(library) does not pass: \(failed)")]
    }
}
