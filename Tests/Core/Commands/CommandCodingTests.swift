import FoundationEssentials
import Model
import TestSupport
import Testing

@testable import Core

@Suite struct CommandCodingTests {
    @Test("a command and its answer are the same after they were sent and received")
    func roundTrip() throws {
        var random = RandomValues()
        for _ in 0..<SeededGenerator.rounds(usually: 200) {
            for command in random.commands() { try check(command, random.seed) }
            for answer in random.answers() { try check(answer, random.seed) }
        }
    }

    @Test("no two commands have the same name, and each command can be found by its name")
    func names() throws {
        let names = AccountCommands.all.map { $0.name }
        #expect(Set(names).count == names.count)
        var random = RandomValues()
        #expect(Set(random.commands().map { type(of: $0).name }) == Set(names))
    }

    @Test("advice is sent as a sentence of the program that sends it")
    func advice() throws {
        let encoder = JSONEncoder()
        let words: @Sendable (Advice) -> String = { $0 == .listItems ? "list them" : "?" }
        encoder.userInfo[Advice.words] = words
        let sent = try encoder.encode(Failure(.notFound, "none", hint: .listItems))
        #expect(try JSONDecoder().decode(Failure.self, from: sent).hint == .text("list them"))
        #expect(try JSONDecoder().decode(Advice.self, from: JSONEncoder().encode(Advice.text("so"))) == .text("so"))
    }

    @Test("a path that leaves its folder, or that no item can have, is not accepted")
    func paths() {
        for path in ["", "a", "/a/../b", "//", "/a\u{0}b", "/" + String(repeating: "a", count: 256)] {
            #expect(throws: DecodingError.self, "\(path)") {
                try JSONDecoder().decode(ItemPath.self, from: try JSONEncoder().encode(path))
            }
        }
    }

    /// Checks that a value that was encoded and decoded has the same encoding. Neither encoding leaves anything out.
    private func check<Value: Codable>(_ value: Value, _ seed: UInt64) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.userInfo[try #require(Timestamp.asText)] = true
        let sent = try encoder.encode(value)
        let received = try JSONDecoder().decode(Value.self, from: sent)
        #expect(try encoder.encode(received) == sent, "LARDER_TEST_SEED=\(seed) \(Value.self)")
        #expect("\(fields(of: received))" == "\(fields(of: value))", "LARDER_TEST_SEED=\(seed) \(Value.self)")
    }

    /// The values of a value's stored properties, at every depth.
    private func fields(of value: Any) -> [String] {
        let children = Mirror(reflecting: value).children
        return children.isEmpty ? ["\(value)"] : children.flatMap { fields(of: $0.value) }
    }
}

/// Random commands and answers.
private struct RandomValues {
    private var generator = SeededGenerator()

    var seed: UInt64 { generator.seed }

    mutating func commands() -> [any AccountCommand] {
        [
            Pins.Add(path()), Pins.Remove(path()),
            ServerChange(list { $0.change() }, after: list { SyncRecordID($0.number()) }, waits: flag()),
            Copies.Get(path(), waits: flag()),
            Copies.Free(path()), Copies.NoteUse(path()),
            Copies.NoteExport(path(), to: text(), digest: [1, 2, 255]),
            Claims.Add(
                path(), as: Claim.Kind.allCases.randomElement(using: &generator)!, validity(),
                id: maybe { ClaimID($0.text()) }), Claims.Remove(ClaimID(text())), Policies.Add(policy()),
            Policies.Update(
                named: text(),
                PolicyChange(
                    condition: maybe { $0.text() }, description: maybe { $0.text() },
                    removeWhenNone: maybe { $0.text() })), Policies.Remove(named: text()),
            Policies.Move(flag() ? .undo : .redo), Policies.Run(Trigger.allCases.randomElement(using: &generator)!),
            Records.Cancel(SyncRecordID(number())), Records.Retry(SyncRecordID(number())),
            flag()
                ? Issues.Answer(IssueID(number()), choice: text()) : Issues.Answer(allWith: text(), choice: text()),
            Loops.Poll(named: maybe { $0.text() }), Loops.Switch(named: text(), enabled: flag()),
            Plugins.Retry(PluginID(text())),
            Accounts.Verify(asksAgain: flag()), Accounts.Approve(list { Approval(.redirect, $0.text()) }), Wait(path()),
            Pauses.Begin(for: maybe { .nanoseconds($0.number()) }), Pauses.End(),
        ]
    }

    mutating func answers() -> [any Codable] {
        var run = RunOutcome()
        run.failures = list { $0.failure() }
        run.left = list { RunOutcome.Left(path: $0.path(), why: $0.text()) }
        run.leftCount = Int(number())
        run.issues = list { $0.issue() }
        run.bytes = number()
        var got = GetOutcome()
        got.files = list { $0.path() }
        got.waiting = Int(number())
        got.failures = list { $0.failure() }
        got.issues = list { $0.issue() }
        var waited = WaitOutcome()
        (waited.failures, waited.issues) = (list { $0.failure() }, list { $0.issue() })
        waited.leftCount = Int(number())
        var changed = ChangeOutcome()
        changed.changes = list { values in
            .init(record: values.maybe { SyncRecordID($0.number()) }, refusal: values.maybe { $0.failure() })
        }
        (changed.failures, changed.issues) = (list { $0.failure() }, list { $0.issue() })
        changed.places = list { .init(record: SyncRecordID($0.number()), path: $0.path()) }
        let difference = PolicyDifference(before: maybe { $0.policy() }, after: maybe { $0.policy() })
        let who: PolicyAuthor.Who = flag() ? .host : flag() ? .person(text()) : .plugin(PluginID(text()))
        let step = PolicyStep(author: PolicyAuthor(who, at: time()), isQuiet: flag(), changes: [difference])
        return [
            Done(), run, got, changed, failure(),
            FreeOutcome(freed: list { $0.path() }, failures: list { $0.failure() }),
            Pins.Outcome(policy: policy(), redundant: list { $0.policy() }),
            PolicyAddOutcome(policy: policy(), kinds: list { PolicyKind($0.text()) }),
            PolicyMoveOutcome(
                step: PolicyHistoryStep(id: text(), step: step, isApplied: flag()), gone: list { $0.policy() }),
            ClaimReport(
                claim: Claim(id: ClaimID(text()), item: LocalID(text()), kind: .read, validity: validity()),
                path: path()), IssueAnswer(id: IssueID(number()), failure: maybe { $0.failure() }),
            PluginRetryOutcome(isReleased: flag(), isAtWork: flag()), waited,
            PauseOutcome(isPaused: flag(), until: maybe { $0.time() }, changed: flag()), AccountFinding.works(nil),
            AccountFinding.asks(issue()), LoopPollOutcome(loops: list { $0.loop() }, failures: list { $0.failure() }),
            loop(),
        ]
    }

    private mutating func change() -> ChangeRequest {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: .createFolder(path())
        case 1: .delete(path())
        case 5: .haveFolder(path())
        case 2: .move(path(), to: path())
        case 3: .copy(path(), to: path())
        case 4: .setFavorite(path(), flag())
        case 6: .setModificationTime(path(), time())
        default:
            .put(
                TakenSnapshot(
                    name: text(), size: number(), digest: list { UInt8(truncatingIfNeeded: $0.number()) },
                    sha1: list { UInt8(truncatingIfNeeded: $0.number()) }, modified: time(),
                    mark: maybe { it in
                        FileMark(
                            inode: 7, size: it.number(), modified: it.time(), changed: it.time(), recorded: it.time())
                    }), path(), replaces: flag())
        }
    }

    private mutating func loop() -> LoopState {
        LoopState(
            key: LoopKey(kind: LoopKind(text()), id: LoopID(text())), plugin: PluginID(text()), isEnabled: flag(),
            eventID: maybe { EventID($0.text()) }, lastPoll: maybe { $0.time() },
            lastResult: maybe { LoopResult.allCases.randomElement(using: &$0.generator)! },
            lastError: maybe { $0.text() }, nextPoll: maybe { $0.time() }, failures: Int(number()))
    }

    private mutating func issue() -> Model.Issue {
        Issue(
            id: IssueID(number()), record: maybe { SyncRecordID($0.number()) }, code: text(), subject: text(),
            message: text(),
            choices: list {
                Issue.Choice(id: $0.text(), label: $0.text(), impact: $0.flag() ? .dataLoss : .nonDestructive)
            },
            created: time(), failure: kind())
    }

    private mutating func failure() -> Failure {
        var failure = Failure(kind(), text(), hint: maybe { .text($0.text()) })
        (failure.needsPerson, failure.endsAccount) = (flag(), flag())
        return failure
    }

    private mutating func kind() -> Failure.Kind { Failure.Kind.allCases.randomElement(using: &generator)! }

    private mutating func policy() -> ItemPolicy {
        ItemPolicy(
            databaseID: PolicyRowID(number()), id: PolicyID(text()), kind: PolicyKind(text()),
            identifier: maybe { $0.text() }, description: maybe { $0.text() }, condition: text(),
            path: maybe { $0.path() }, localID: maybe { LocalID($0.text()) }, removeWhenNone: maybe { $0.text() },
            data: maybe { $0.list { UInt8(truncatingIfNeeded: $0.number()) } }, revision: number())
    }

    private mutating func validity() -> ClaimValidity {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: .until(time())
        case 1:
            .process(
                ProcessIdentity(pid: Int32(truncatingIfNeeded: number()), started: generator.next(), boot: text()))
        case 2: .all(list { $0.validity() })
        case 3: .any(list { $0.validity() })
        case 4: .not(validity())
        default: .explicit
        }
    }

    private mutating func path() -> ItemPath {
        let names = list { $0.text().replacing("/", with: "").replacing("\0", with: "") }
        return names.reduce(.root) { path, name in (try? path.appending(name)) ?? path }
    }

    private mutating func time() -> Timestamp { Timestamp(nanoseconds: number()) }

    /// A number, often of the largest.
    private mutating func number() -> Int64 {
        [.min, .max, 0, (1 << 53) + 1, Int64(bitPattern: generator.next())].randomElement(using: &generator)!
    }

    private mutating func flag() -> Bool { .random(using: &generator) }

    /// A text with characters that encodings have trouble with.
    private mutating func text() -> String {
        let pieces = ["a", "é", "e\u{301}", "/", "\"", "\\", "\n", "\0", "\u{1f9ca}", " ", "_0", "null", "\u{2028}"]
        return list { pieces.randomElement(using: &$0.generator)! }.joined()
    }

    private mutating func maybe<Value>(_ value: (inout Self) -> Value) -> Value? { flag() ? value(&self) : nil }

    private mutating func list<Value>(_ value: (inout Self) -> Value) -> [Value] {
        (0..<Int.random(in: 0..<3, using: &generator)).map { _ in value(&self) }
    }
}
