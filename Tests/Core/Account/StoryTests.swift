import Database
import DemoServer
import ItemList
import LocalTree
import Model
import SyncEngine
import TestServer
import TestSupport
import Testing

@testable import Core

/// Tests sixty days of an account, day by day, against a model of the expected local copies.
@Suite("The four processors on one tree, for sixty days")
struct StoryTests {
    /// The model's record of a copy.
    private struct Copy {
        var text: String
        var isPinned: Bool
        /// Whether a person has requested the copy.
        var isPersons: Bool
        var lastUsed: Int
    }

    private struct AccountModel {
        var server: [String: String] = [:]
        /// The texts that the last scan found.
        var known: [String: String] = [:]
        var copies: [String: Copy] = [:]
        var removed: Set<String> = []
        var wishes: Set<String> = []
        var pins: Set<String> = []
        var claims: [String: Claim] = [:]
        /// The number of days after their last use for which copies are kept.
        static let life = 6

        func isCovered(_ path: String) -> Bool { pins.contains { path.hasPrefix("/\($0)/") } }

        /// Tells whether the next scan will find another version. A download requested before that scan would depend on
        /// a clock that jumps over every wait: a download that finds another version than the listed one is given up
        /// before the folder is listed again.
        func isChanged(_ path: String) -> Bool { known[path].map { $0 != server[path] } ?? false }

        /// Tells whether a download of the file may be queued.
        func isAwaited(_ path: String) -> Bool {
            wishes.contains(path) || isCovered(path) && copies[path]?.text != server[path]
        }

        /// Applies a day's run to the model.
        mutating func run(day: Int, isOnline: Bool) {
            guard isOnline else {
                for (path, copy) in copies where !removed.contains(path) {
                    if isCovered(path) {
                        copies[path]?.isPinned = true
                    } else if copy.isPinned {
                        letGo(path, day: day)
                    } else if isExpired(path, day: day), !wishes.contains(path) {
                        copies[path] = nil
                    }
                }
                return
            }
            // Items that were already gone at the last scan are forgotten, unless they are claimed.
            for path in removed where claims[path] == nil {
                copies[path] = nil
                removed.remove(path)
            }
            for path in copies.keys where server[path] == nil { removed.insert(path) }
            for (path, text) in server {
                let isWished = wishes.contains(path)
                if isCovered(path) {
                    let isFetched = copies[path]?.text != text
                    var copy = copies[path] ?? Copy(text: text, isPinned: true, isPersons: false, lastUsed: day)
                    copy.isPersons = copy.isPersons || isWished
                    copy.isPinned = true
                    copy.text = text
                    if isFetched || isWished { copy.lastUsed = day }
                    copies[path] = copy
                } else if isWished, copies[path] == nil || !isHeldForWriting(path) {
                    copies[path] = Copy(text: text, isPinned: false, isPersons: true, lastUsed: day)
                } else if let copy = copies[path] {
                    if copy.isPinned {
                        letGo(path, day: day)
                    }
                    guard let copy = copies[path] else { continue }
                    if copy.text != text {
                        switch claims[path]?.kind {
                        case .read: copies[path] = Copy(text: text, isPinned: false, isPersons: true, lastUsed: day)
                        case .write, .delete: break
                        case nil: copies[path] = nil
                        }
                    } else if isExpired(path, day: day) {
                        copies[path] = nil
                    }
                }
            }
            wishes = []
            known = server
        }

        /// Tells whether a claim is for writing or deleting the file. No other version then takes the copy's place.
        private func isHeldForWriting(_ path: String) -> Bool {
            switch claims[path]?.kind {
            case .write, .delete: true
            case .read, nil: false
            }
        }

        /// Applies the removal of a copy's pin. The copy is then a person's again, or it is removed.
        private mutating func letGo(_ path: String, day: Int) {
            if copies[path]?.isPersons == true {
                copies[path]?.isPinned = false
                copies[path]?.lastUsed = day
            } else {
                copies[path] = nil
            }
        }

        private func isExpired(_ path: String, day: Int) -> Bool {
            guard let copy = copies[path], claims[path] == nil else { return false }
            return day - copy.lastUsed > Self.life
        }
    }

    @Test("P17 P36 P46: after each of sixty days exactly that is here which the model says")
    func sixtyDays() async throws {
        var random = SeededGenerator()
        let seed = random.seed
        let settings = Settings(
            removalGuard: nil,
            plugins: [
                // Waits advance the clock by minutes.
                PluginSettings(id: PluginID(shortOrFull: "vacuum"), json: #"{"after": "1h"}"#),
                // The times of day of two runs may differ by up to half a day without any effect.
                PluginSettings(id: PluginID(shortOrFull: "download-expiration"), json: #"{"after": "156h"}"#),
            ])
        try await AccountFixture.running(settings: settings) { fixture in
            var model = AccountModel()
            var history: [String] = []
            var next = 0
            func put(_ path: String, _ text: String) {
                model.server[path] = text
                fixture.put(path, text)
            }
            for folder in ["a", "b", "c"] { put("/\(folder)/keep", "keep") }
            try await fixture.runWell()
            model.known = model.server
            for day in 1...60 {
                // The order in which the host handles a removal and a change of pins is not specified, so no scan finds
                // both.
                let isPinDay = random.number(2) == 0 && model.known.keys.allSatisfy { model.server[$0] != nil }
                for _ in 0..<random.number(6) {
                    let path = model.server.keys.sorted()[random.number(model.server.count)]
                    let isKnown = model.known[path] != nil
                    let folder = ["a", "b"][random.number(2)]
                    switch random.number(8) {
                    case 0, 1:
                        next += 1
                        history.append("put \(next)")
                        put("/\(["a", "b", "c"][random.number(3)])/file \(next)", "text \(next)")
                    case 2 where !model.isAwaited(path):
                        next += 1
                        history.append("change \(path)")
                        put(path, "text \(next)")
                    case 3 where !path.hasSuffix("keep") && !isPinDay:
                        history.append("remove \(path)")
                        model.server[path] = nil
                        fixture.server.tree.remove(path)
                    case 4, 5:
                        guard isKnown, !model.removed.contains(path) else { continue }
                        let isHere = model.copies[path].map { $0.text == model.known[path] } ?? false
                        guard isHere || !model.isChanged(path) else { continue }
                        history.append("get \(path)")
                        try await fixture.download(path)
                        if case .some = model.copies[path], try await fixture.item(path)?.remoteVersion == .current {
                            // The file is here. From now on the copy is the person's, and it has been used.
                            model.copies[path]?.isPersons = true
                            model.copies[path]?.lastUsed = day
                        } else {
                            model.wishes.insert(path)
                        }
                    case 6
                    where isPinDay
                        && !model.server.keys.contains { model.isChanged($0) && $0.hasPrefix("/\(folder)/") }:
                        let isPinned = model.pins.contains(folder)
                        history.append("\(isPinned ? "unpin" : "pin") \(folder)")
                        if isPinned {
                            try await fixture.unpin("/\(folder)")
                            model.pins.remove(folder)
                        } else {
                            try await fixture.pin("/\(folder)")
                            model.pins.insert(folder)
                        }
                    case 7:
                        guard path.hasPrefix("/c/"), isKnown, let item = try await fixture.item(path) else { continue }
                        let earlier = model.claims.removeValue(forKey: path)
                        history.append("claim \(path), or not any more")
                        let claim = Claim(
                            item: item.localID, kind: random.number(2) == 0 ? .read : .write, validity: .explicit)
                        try await fixture.host.database.write { tx in
                            if let earlier {
                                try tx.claims.remove(earlier.id)
                            } else {
                                try tx.claims.add(claim)
                            }
                        }
                        if earlier == nil { model.claims[path] = claim }
                    default: break
                    }
                }
                let isOnline = random.number(7) != 0
                let fault = isOnline ? nil : fixture.server.add(Fault(.status(503)))
                _ = try await fixture.run()
                if let fault { fixture.server.remove(fault) }
                model.run(day: day, isOnline: isOnline)
                history.append("— day \(day), \(isOnline ? "online" : "offline")")
                let here = try fixture.tree().filter { !$0.hasSuffix("/") }
                #expect(
                    here == model.copies.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) },
                    "LARDER_TEST_SEED=\(seed) \(history.suffix(40))")
                for (path, copy) in model.copies where here.contains(path) {
                    #expect(
                        try fixture.text(path) == copy.text, "LARDER_TEST_SEED=\(seed) \(path) \(history.suffix(40))")
                }
                guard here == model.copies.keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) else {
                    return
                }
                fixture.clock.advance(.seconds(86_400))
            }
        }
    }
}

extension SeededGenerator {
    /// Returns a number from 0 up to, but not including, `below`.
    fileprivate mutating func number(_ below: Int) -> Int { Int.random(in: 0..<below, using: &self) }
}
