import ArgumentParser
import Core
import Model

struct PolicyUndo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "undo", abstract: "Take back the last change of policies, whoever made it.",
        discussion: """
            The next run acts on it. A policy that was added is removed, one that was removed is added again, and of one that was \
            changed only what was changed is set back; if that was changed again since, nothing is. `larder policy history` \
            shows what would be undone.
            """)

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.undo, global)
        return []
    }
}

struct PolicyRedo: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "redo", abstract: "Do again what `undo` took back last.",
        discussion: "The next run acts on it. A new change of yours takes the place of what was undone.")

    @OptionGroup var global: GlobalOptions

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        try await console.move(.redo, global)
        return []
    }
}

struct PolicyHistoryList: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "List the changes of policies: who changed what, and when; the latest first.",
        discussion: """
            ▶ is what `undo` takes back next, ○ was undone and can be redone, · is what went by itself with a move of its target \
            and is passed over. Times are in UTC.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(help: ArgumentHelp("List no more changes than this.", valueName: "n")) var limit: Int?

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        if let limit, limit < 0 { throw Failure(.usage, "--limit: \(limit) is less than none") }
        guard let reader = try global.loadConfig().oneAccount().reader() else { return [] }
        let report = try await reader.policyHistory(limit: limit)
        try reader.close()
        if global.isJSON {
            for step in report.steps { console.print(JSON(step)) }
        } else {
            for line in PolicyHistoryTable(report.steps).lines { console.print(line) }
        }
        if report.waiting > 0 {
            console.note(
                "larder: \(Text.count(report.waiting, "change")) not in the history yet; the next `larder run` writes what is left"
            )
        }
        return []
    }
}

extension Console {
    fileprivate func move(_ direction: PolicyMove.Direction, _ global: GlobalOptions) async throws(Failure) {
        let outcome = try await withAccount(global, self) { host throws(Failure) in
            try await host.perform(Policies.Move(direction))
        }
        let word = direction == .undo ? "undone" : "redone"
        if global.isJSON {
            print(JSON(outcome.step))
        } else {
            let lines = PolicyHistoryTable.lines(of: outcome.step.step)
            let author = outcome.step.step.author
            print("\(word), what \(PolicyHistoryTable.name(of: author)) did at \(Text.time(author.time)): \(lines[0])")
            for line in lines.dropFirst() { print("  \(line)") }
            print("the next `larder run` acts on it")
        }
        for policy in outcome.gone { note("larder: the policy \(Text.visible(policy.id.text)) was gone already") }
    }
}
