import Model
import Synchronization
import TestSupport
import Testing
import Vault

@testable import Connection
@testable import Database
@testable import SyncEngine

/// Each change, with something queued behind it, that is taken back at each moment, and by each answer without loss.
@Suite struct TakeBackMatrixTests {
    enum Change: String, CaseIterable { case put, replace, mkdir, mv, cp, rm }
    enum Behind: String, CaseIterable { case nothing, put, mv, rm }
    enum Moment: CaseIterable { case before, underWay, underWayAndMade, killed, killedAndMade }

    private func path(_ text: String) throws -> ItemPath { try ItemPath(text) }

    private func ask(_ change: Change, _ fixture: EngineFixture) async throws -> EnqueueOutcome {
        switch change {
        case .put: try await fixture.put("mine", "/d/n")
        case .replace: try await fixture.put("mine", "/d/f", replaces: true)
        case .mkdir: try await fixture.change(.createFolder(path("/k")))
        case .mv: try await fixture.change(.move(path("/d"), to: path("/e")))
        case .cp: try await fixture.change(.copy(path("/d"), to: path("/e")))
        case .rm: try await fixture.change(.delete(path("/d")))
        }
    }

    private func ask(_ behind: Behind, behind change: Change, _ fixture: EngineFixture) async throws {
        let outcome: EnqueueOutcome? =
            switch (behind, change) {
            case (.nothing, _): nil
            case (.put, .put): try await fixture.put("newer", "/d/n", replaces: true)
            case (.put, .replace): try await fixture.put("newer", "/d/f", replaces: true)
            case (.put, .mkdir): try await fixture.put("newer", "/k/x")
            case (.put, .mv), (.put, .cp): try await fixture.put("newer", "/e/x")
            case (.put, .rm): try await fixture.put("newer", "/d")
            case (.mv, .put), (.mv, .replace): try await fixture.change(.move(path("/d"), to: path("/m")))
            case (.mv, .mkdir): try await fixture.change(.move(path("/k"), to: path("/m")))
            case (.mv, .mv), (.mv, .cp): try await fixture.change(.move(path("/e"), to: path("/m")))
            case (.mv, .rm): try await fixture.change(.move(path("/other"), to: path("/d")))
            case (.rm, .put): try await fixture.change(.delete(path("/d/n")))
            case (.rm, .replace): try await fixture.change(.delete(path("/d/f")))
            case (.rm, .mkdir): try await fixture.change(.delete(path("/k")))
            case (.rm, .mv): try await fixture.change(.delete(path("/e")))
            // The person believes that the copy is there.
            case (.rm, .cp): try await fixture.change(.delete(path("/d")))
            case (.rm, .rm): try await fixture.change(.delete(path("/other")))
            }
        if case .refused(let failure) = outcome { throw failure }
    }

    /// Returns the contents that must be somewhere, on the server or here, in the end.
    private func contents(_ change: Change, _ behind: Behind, isMade: Bool) -> [String] {
        var all = behind == .put ? ["newer"] : []
        let isReplaced = change == .replace && (isMade || behind == .put || behind == .rm)
        let isDeleted = isMade && (change == .rm || change == .mv && behind == .rm)
        if !isReplaced, !isDeleted { all.append("of f") }
        if change != .rm || behind != .rm { all.append("of other") }
        return all
    }

    private func with(_ body: (EngineFixture) async throws -> Void) async throws {
        try await EngineFixture.with { fixture in
            try await fixture.addFolder("/d")
            try await fixture.addFile("/d/f", "of f")
            try await fixture.addFile("/other", "of other")
            try await body(fixture)
        }
    }

    private func wait(_ fixture: EngineFixture, minutes: Int = 4) async throws {
        for _ in 0..<minutes {
            _ = try await fixture.drain()
            fixture.clock.advance(.seconds(60))
        }
        _ = try await fixture.drain()
        try await fixture.mover.carryOut()
    }

    /// - Parameter isListed: Whether the item list shows what the server has.
    private func check(
        _ fixture: EngineFixture, _ contents: [String], isListed: Bool = true, _ what: String
    ) async throws {
        await fixture.engine.removeSpentSnapshots()
        #expect(try await fixture.records().isEmpty, "\(what)")
        let issues = try await fixture.issues().map(\.message)
        #expect(issues.isEmpty, "\(what): \(issues)")
        var found = fixture.source.paths.compactMap { fixture.source[$0]?.bytes }
            .map { String(decoding: $0, as: UTF8.self) }
        for path in try await fixture.listed() {
            if let text = try fixture.text(path) { found.append(text) }
            let item = try await fixture.item(path)
            let isThere = fixture.source[item.path] != nil || fixture.source.changing.has(folder: item.path)
            #expect(!isListed || isThere != (item.cloudStatus == .localOnly), "\(what): \(path)")
        }
        for text in contents where !found.contains(text) { Issue.record("\(what): “\(text)” is lost") }
        #expect(try fixture.outgoing().isEmpty, "\(what)")
        #expect(fixture.engine.progress.filesTotal == fixture.engine.progress.filesDone, "\(what)")
    }

    @Test(
        "S28 S51: each change is cancelled before, during and after its request, whatever is queued behind it",
        arguments: Change.allCases)
    func cancelled(_ change: Change) async throws {
        for behind in Behind.allCases {
            for moment in Moment.allCases {
                try await with { fixture in
                    let what = "\(change) \(behind) \(moment)"
                    let isMade = moment == .underWayAndMade || moment == .killedAndMade
                    fixture.engine.setOnline(false)
                    var last = fixture
                    guard case .queued(let id) = try await ask(change, fixture) else { return }
                    func cancel(_ fixture: EngineFixture) async throws {
                        try await ask(behind, behind: change, fixture)
                        let isThere = try await fixture.records().contains { $0.id == id }
                        if isThere { try await fixture.engine.cancel(id) }
                        try await fixture.mover.carryOut()
                        fixture.engine.setOnline(true)
                    }
                    switch moment {
                    case .before: try await cancel(fixture)
                    case .underWay, .underWayAndMade:
                        fixture.source.changing.then(.hang(doing: isMade ? .max : 0))
                        fixture.engine.setOnline(true)
                        async let drained = fixture.drain()
                        await until { !fixture.source.changing.requests.isEmpty }
                        try await cancel(fixture)
                        _ = try await drained
                    case .killed, .killedAndMade:
                        fixture.source.changing.then(.hang(doing: isMade ? .max : 0))
                        fixture.engine.setOnline(true)
                        let run = Task { try await fixture.drain() }
                        await until { !fixture.source.changing.requests.isEmpty }
                        run.cancel()
                        _ = await run.result
                        last = try EngineFixture(reopening: fixture)
                        last.engine.setOnline(false)
                        try await cancel(last)
                    }
                    try await wait(last)
                    // A newer version that is put before the first was sent takes its place, and is cancelled.
                    let isSame = moment == .before && behind == .put && (change == .put || change == .replace)
                    try await check(last, contents(change, isSame ? .nothing : behind, isMade: isMade), what)
                    if moment == .killed || moment == .killedAndMade { try last.vault.close() }
                }
            }
        }
    }

    /// What makes the server not do a change.
    enum Trouble: CaseIterable { case refused, conflict, uncertain }

    @Test(
        "S51 S22: each answer without loss is accepted, whatever is queued behind the change, and loses nothing",
        arguments: Change.allCases, Trouble.allCases)
    func answered(_ change: Change, _ trouble: Trouble) async throws {
        let isFolder = change == .mv || change == .cp
        guard trouble != .uncertain || isFolder, trouble != .conflict || !isFolder && change != .mkdir else { return }
        for behind in Behind.allCases {
            var number = 0
            var isLast = false
            while !isLast {
                try await with { fixture in
                    fixture.engine.setOnline(false)
                    try await fixture.addFile("/d/g", "of g")
                    guard case .queued = try await ask(change, fixture) else { return }
                    switch trouble {
                    case .refused: fixture.source.changing.then(.refuse(.forbidden))
                    case .uncertain: fixture.source.changing.then(.doPart(1))
                    case .conflict:
                        fixture.source[try path(change == .put ? "/d/n" : "/d/f")] = .init(
                            bytes: Array("theirs".utf8), version: fixture.source.changing.newVersion())
                    }
                    fixture.engine.setOnline(true)
                    try await wait(fixture, minutes: trouble == .uncertain ? 15 : 1)
                    fixture.engine.setOnline(false)
                    try await ask(behind, behind: change, fixture)
                    guard let issue = try await fixture.issues().first else {
                        // What was to be made was given up by its deletion.
                        #expect(behind == .rm && (change == .put || change == .mkdir || change == .cp))
                        isLast = true
                        return
                    }
                    let choices = issue.choices.filter { $0.impact == .nonDestructive }
                    #expect(!choices.isEmpty)
                    let choice = choices[number]
                    isLast = number + 1 >= choices.count
                    let what = "\(change) \(trouble) \(behind) \(choice.id)"
                    _ = try await fixture.engine.resolve(issue.id, choice: choice.id)
                    try await fixture.mover.carryOut()
                    // The server goes on with what it has begun.
                    if trouble == .uncertain, choice.id == "retry" { try finish(change, fixture) }
                    fixture.engine.setOnline(true)
                    try await wait(fixture)
                    // What somebody else has put there is news to a later change, which asks by itself.
                    for _ in 0..<3 {
                        guard let next = try await fixture.issues().first else { break }
                        #expect(trouble == .conflict, "\(what): \(next.message)")
                        _ = try await fixture.engine.resolve(
                            next.id, choice: next.choices.contains { $0.id == "keepBoth" } ? "keepBoth" : "cancel")
                        try await fixture.mover.carryOut()
                        try await wait(fixture)
                    }
                    var all = contents(change, behind, isMade: choice.id == "retry")
                    if change == .put || change == .replace, behind != .put, behind != .rm { all.append("mine") }
                    if trouble == .conflict { all = all.filter { $0 != "of f" } + ["theirs"] }
                    if change != .rm, change != .mv || behind != .rm { all.append("of g") }
                    try await check(fixture, all, isListed: trouble != .uncertain, what)
                }
                number += 1
            }
        }
    }

    /// Has the server make the rest of a copy or move of `/d`.
    private func finish(_ change: Change, _ fixture: EngineFixture) throws {
        for name in ["f", "g"] {
            let (from, to) = (try path("/d/\(name)"), try path("/e/\(name)"))
            if fixture.source[to] == nil { fixture.source[to] = fixture.source[from] }
            if change == .mv { fixture.source[from] = nil }
        }
        let d = try path("/d")
        if change == .mv { fixture.source.changing.state.withLock { _ = $0.folders.remove(d) } }
    }
}
