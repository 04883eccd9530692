import LocalTree
import Model
import Synchronization
import TestSupport
import Testing

@testable import Database
@testable import SyncEngine

/// Random queues, out of the middle of which a change is taken back.
@Suite struct TakeBackScriptTests {
    @Test("S51: out of any queue any change is taken back, what is left is made, and no content is lost")
    func scripts() async throws {
        for seed in UInt64(0)..<40 {
            var random = SeededGenerator(seed: seed)
            try await EngineFixture.with { fixture in
                for folder in ["/a", "/a/b", "/c"] { try await fixture.addFolder(folder) }
                var theirs: [LocalID: String] = [:]
                for file in ["/a/1", "/a/b/2", "/c/3", "/4"] {
                    theirs[try await fixture.addFile(file, "theirs \(file)").localID] = "theirs \(file)"
                }
                fixture.engine.setOnline(false)
                var said: [String] = []
                for number in 0..<9 { said += try await step(number, fixture, &theirs, &random) }
                // Of a copied folder in which a version was replaced that is taken back, a person is asked.
                let isCopied = said.contains { $0.hasPrefix("cp") }
                let records = try await fixture.records().filter {
                    $0.action.kind.changesServer && !(isCopied && $0.action.kind == .upload)
                }
                guard let taken = records.randomElement(using: &random) else { return }
                said.append("cancel \(taken.action.kind.rawValue) \(taken.path)")
                let texts = try await visible(fixture, theirs)
                try await fixture.database.write { tx in
                    if taken.action.kind == .upload {
                        try fixture.engine.context.takeBack.keepHere(taken, .inPlace, in: tx)
                    } else {
                        try fixture.engine.context.records.deschedule(taken, in: tx)
                    }
                }
                try await fixture.mover.carryOut()
                fixture.engine.setOnline(true)
                let left = try await fixture.drain()
                let issues = try await fixture.issues().map { "\($0.code) \($0.message)" }
                #expect(left.leftCount == 0 && issues.isEmpty, "seed \(seed): \(said): \(issues)")
                let there = fixture.source.paths.compactMap { fixture.source[$0]?.bytes }
                    .map { String(decoding: $0, as: UTF8.self) }
                var here: [String] = []
                for path in try await fixture.listed() {
                    if let text = try fixture.text(path) { here.append(text) }
                    let item = try await fixture.item(path)
                    let isThere = fixture.source[item.path] != nil || fixture.source.changing.has(folder: item.path)
                    #expect(isThere != (item.cloudStatus == .localOnly), "seed \(seed): \(said): \(path)")
                }
                for text in texts where !there.contains(text) && !here.contains(text) {
                    Issue.record("seed \(seed): \(said): \(text) is lost")
                }
            }
        }
    }

    private func step(
        _ number: Int, _ fixture: EngineFixture, _ theirs: inout [LocalID: String], _ random: inout SeededGenerator
    ) async throws -> [String] {
        let listed = try await fixture.listed()
        var folders = ["/"]
        for path in listed where try await fixture.item(path).kind == .folder { folders.append(path) }
        func inside(_ folder: String, _ name: String) -> String { folder == "/" ? "/\(name)" : "\(folder)/\(name)" }
        guard let some = listed.randomElement(using: &random), let folder = folders.randomElement(using: &random),
            // Names come again, so that things come to the places of others.
            let name = ["1", "2", "b", "x\(number)"].randomElement(using: &random)
        else { return [] }
        let place = inside(folder, name)
        let outcome: EnqueueOutcome
        let what: String
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1:
            what = "mkdir \(place)"
            outcome = try await fixture.change(.createFolder(try ItemPath(place)))
        case 2, 3, 4:
            what = "put \(place)"
            outcome = try await fixture.put("mine \(number)", place)
        case 5:
            what = "put --replace \(some)"
            outcome = try await fixture.put("mine \(number)", some, replaces: true)
        case 6, 7, 8:
            what = "mv \(some) \(place)"
            outcome = try await fixture.change(.move(try ItemPath(some), to: try ItemPath(place)))
        case 9:
            // What is in a copied folder is compared elsewhere.
            guard try await fixture.item(some).kind == .file else { return [] }
            what = "cp \(some) \(place)"
            let copied = try await text(of: fixture.item(some), try await fixture.records(), fixture, theirs)
            outcome = try await fixture.change(.copy(try ItemPath(some), to: try ItemPath(place)))
            if case .queued = outcome { theirs[try await fixture.item(place).localID] = copied }
        default:
            what = "rm \(some)"
            outcome = try await fixture.change(.delete(try ItemPath(some)))
        }
        if case .refused = outcome { return [] }
        return [what]
    }

    /// Returns the contents that a person sees, of the server's files and of those to be uploaded.
    private func visible(_ fixture: EngineFixture, _ theirs: [LocalID: String]) async throws -> [String] {
        let records = try await fixture.records()
        var texts: [String] = []
        for path in try await fixture.listed() {
            if let text = try await text(of: fixture.item(path), records, fixture, theirs) { texts.append(text) }
        }
        return texts
    }

    private func text(
        of item: Item, _ records: [SyncRecord], _ fixture: EngineFixture, _ theirs: [LocalID: String]
    ) async throws -> String? {
        let uploads = records.compactMap { record -> Upload? in
            guard record.localID == item.localID, case .upload(let upload) = record.action else { return nil }
            return upload
        }
        guard let upload = uploads.last else { return theirs[item.localID] }
        return try Files.text(fixture.folder + "/vault/outgoing/" + upload.snapshot)
    }
}
