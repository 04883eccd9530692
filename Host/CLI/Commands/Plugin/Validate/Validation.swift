import Glibc
import Model
import Synchronization
import Threads
import Validator

/// The processes of a validation.
final class Validation: Sendable {
    /// The absolute path of the library.
    let library: String
    let seed: UInt64
    /// The command that makes a check, without its options.
    let command: [String]
    /// The number of checks that did not end.
    private let hung = Mutex(0)
    /// The library's file when the validation began. What the checks of two files say together is true of neither.
    private let stamp: FileStamp?

    /// Begins a validation. Blocks.
    init(library: String, seed: UInt64, command: [String]) {
        (self.library, self.seed, self.command) = (library, seed, command)
        stamp = FileStamp(library, evenEmpty: true)
    }

    /// The number of processes at a time.
    private static let width = max(1, min(4, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
    private static let limit = Duration.seconds(60)

    /// Makes checks.
    /// - Parameter show: Gets the outcomes, in the order of the checks.
    func make(
        _ checks: [PluginCheck], show: @Sendable (PluginCheck, CheckOutcome) -> Void
    ) async throws(Failure) {
        let folder = try TemporaryFolder(named: "larder-validate")
        var known: [String: CheckOutcome] = [:]
        var failure: Failure?
        do throws(Failure) {
            var end: String?
            for check in checks where end == nil && PluginCheck.first.contains(check.id) {
                let outcome = try await outcome(of: check, in: "\(folder.path)/\(check.id)").get()
                known[check.id] = outcome
                if case .found(let finding) = outcome, finding.endedProcess { end = check.id }
            }
            if let end {
                for check in checks where check.part != .file && known[check.id] == nil {
                    known[check.id] = .skipped("the process of \(end) ended")
                }
            }
            try await make(checks, known, in: folder.path, show: show)
        } catch {
            failure = error
        }
        await runBlocking { folder.remove() }
        if let failure { throw failure }
    }

    /// Makes the checks whose outcomes are not known, some at a time.
    private func make(
        _ checks: [PluginCheck], _ known: [String: CheckOutcome], in folder: String,
        show: @Sendable (PluginCheck, CheckOutcome) -> Void
    ) async throws(Failure) {
        let failure = await withTaskGroup(of: (index: Int, result: Result<CheckOutcome, Failure>).self) {
            group -> Failure? in
            var next = 0
            func addNext() {
                guard next < checks.count else { return }
                let (index, check) = (next, checks[next])
                next += 1
                if let outcome = known[check.id] {
                    group.addTask { (index, .success(outcome)) }
                } else {
                    group.addTask { [self] in (index, await outcome(of: check, in: "\(folder)/\(check.id)")) }
                }
            }
            for _ in 0..<Self.width { addNext() }
            var waiting: [Int: CheckOutcome] = [:]
            var shown = 0
            while let (index, result) = await group.next() {
                switch result {
                case .success(let outcome): waiting[index] = outcome
                case .failure(let failure):
                    group.cancelAll()
                    return failure
                }
                while let outcome = waiting.removeValue(forKey: shown) {
                    show(checks[shown], outcome)
                    shown += 1
                }
                addNext()
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func outcome(of check: PluginCheck, in folder: String) async -> Result<CheckOutcome, Failure> {
        // After some that hang, the others are given less time.
        let limit = hung.withLock { $0 < 3 } ? Self.limit : Self.limit / 4
        let result = await run(["--check", check.id, "--seed", String(seed)], in: folder, limit: limit)
        if case .success(.found(let finding)) = result, finding.what.hasPrefix(CheckProcess.hung) {
            hung.withLock { $0 += 1 }
        }
        return result
    }

    /// Goes through random lives for a time, each process from another seed on.
    func live(for time: Duration, _ report: ValidationReport, _ console: Console) async throws(Failure) {
        let folder = try TemporaryFolder(named: "larder-validate")
        let milliseconds = String(Int64(time / .milliseconds(1)))
        let results = await withTaskGroup(of: Result<CheckOutcome, Failure>.self) { group in
            for number in 0..<Self.width {
                let first = seed &+ UInt64(number) << 40
                group.addTask { [self] in
                    await run(
                        ["--lives", milliseconds, "--seed", String(first)], in: "\(folder.path)/\(number)",
                        limit: time + Self.limit)
                }
            }
            var results: [Result<CheckOutcome, Failure>] = []
            // The first finding is enough: the others would be the same one.
            while let result = await group.next() {
                results.append(result)
                if case .success(.passed) = result { continue }
                group.cancelAll()
                break
            }
            return results
        }
        await runBlocking { folder.remove() }
        for result in results { try report.show(life: try result.get(), of: library, console) }
    }

    private func run(_ options: [String], in folder: String, limit: Duration) async -> Result<CheckOutcome, Failure> {
        let isCancelled = Cancellation()
        return await withTaskCancellationHandler {
            await runBlocking { [command, library, stamp] in
                do throws(Failure) {
                    let outcome = try CheckProcess.run(
                        command + options + ["--in", folder], in: folder, limit: limit
                    ) { isCancelled.isSet }
                    guard FileStamp(library, evenEmpty: true) == stamp else {
                        throw Failure(
                            .failed, "\(library) was changed or removed while it was checked",
                            hint: "Validate it again when it is built")
                    }
                    return .success(outcome)
                } catch { return .failure(error) }
            }
        } onCancel: {
            isCancelled.set()
        }
    }
}
