import ArgumentParser
import Core
import Model

struct Check: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check whether an account's database is sound, and restore it.",
        discussion: """
            Without --restore, nothing is changed, and a host may be running. With --restore, a database that is \
            damaged or missing is replaced by the newest sound backup: policies, claims, the plugins' values and the \
            event loops' progress are then as they were when the backup was made. The next run compares the local \
            files with the server. The damaged file is kept under another name. Changes that were queued are not made: \
            those that can be read are named. Files that were to be uploaded stay, and the next run asks about each.
            """)

    @OptionGroup var global: GlobalOptions
    @Flag(help: "Replace a damaged or missing database by the newest sound backup.") var restore = false

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let account = try global.loadConfig().oneAccount()
        let repair = DatabaseRepair(vault: account.bookmark.vault)
        do throws(Failure) { try await account.refuseAwayVault() } catch {
            // Where there is a backup, the vault is there, and has lost its database and its mark.
            guard (try? await repair.inspect())?.newestSound != nil else { throw error }
        }
        guard restore else {
            let found = try await repair.inspect()
            show(found, on: console)
            return found.failure.map { [$0] } ?? []
        }
        let isJSON = global.isJSON
        let queued = await repair.queuedChanges()
        let (found, aside) = try await repair.restore { found in
            for line in Self.plan(found) { console.note(line) }
        }
        let left = try Snapshots.found(of: account.bookmark)
        if isJSON {
            console.print(
                JSONValue(
                    found, restoredFrom: found.state == .sound ? nil : found.newestSound?.path, aside: aside,
                    queued: found.state == .sound ? [] : queued ?? [], left: found.state == .sound ? nil : left))
        } else if found.state == .sound {
            console.print("\(found.path) is sound; nothing was changed")
        } else {
            console.print(
                found.newestSound.map { "\(found.path) was restored from \($0.path)" }
                    ?? "\(found.path) was created anew, because there was no sound backup")
            if let aside { console.print("the damaged database is kept as \(aside)") }
            for line in Text.queued(queued ?? []) { console.print(line) }
            if queued == nil { console.print("which changes were queued cannot be read; they are not made") }
            for snapshot in left.snapshots {
                console.print(Text.snapshot(snapshot, at: "\(left.folder)/\(snapshot.name)"))
            }
            if !left.snapshots.isEmpty {
                console.print("the next run asks what becomes of each file that was not uploaded")
            }
            console.print("run `larder run --once` to compare the local files with the server")
        }
        return []
    }

    /// Returns the lines that announce what a restore will do.
    private static func plan(_ found: DatabaseCheck) -> [String] {
        var lines: [String] = []
        switch found.state {
        case .damaged:
            lines.append("\(found.path) is damaged (\(found.problem ?? "")); it will be kept under another name")
        case .missing: lines.append("\(found.path) is missing")
        case .restoring: lines.append("an earlier restore of \(found.path) was interrupted; it will be completed")
        case .sound: break
        }
        if let backup = found.newestSound {
            lines.append(
                "it will be restored from \(backup.path) of \(Text.time(backup.made)): "
                    + "\(Text.count(backup.policies, "policy", "policies")), \(Text.count(backup.claims, "claim"))")
            lines.append(
                "policies, claims and answers given since then are lost; the next run finds waiting downloads and "
                    + "issues again")
        } else {
            lines.append("there is no sound backup: all policies, claims and plugins' values are lost")
        }
        return lines
    }

    private func show(_ found: DatabaseCheck, on console: Console) {
        if global.isJSON { return console.print(JSONValue(found, restoredFrom: nil, aside: nil)) }
        console.print("\(found.path)  \(found.state.rawValue)" + (found.problem.map { ": \($0)" } ?? ""))
        for backup in found.backups {
            let what =
                backup.problem
                ?? "sound, \(Text.count(backup.policies, "policy", "policies")), \(Text.count(backup.claims, "claim"))"
            console.print("\(backup.path)  \(Text.time(backup.made))  \(what)")
        }
        if found.backups.isEmpty { console.print("there is no backup yet") }
    }
}

extension DatabaseCheck {
    /// The failure to report; nil if the database is sound.
    fileprivate var failure: Failure? {
        switch state {
        case .sound: nil
        case .missing:
            Failure(
                .localIO, "the database \(path) is missing",
                hint: backups.isEmpty ? "run `larder run --once` first" : "`larder check --restore` restores it")
        case .damaged, .restoring:
            Failure(
                .localIO, "the database \(path) is damaged" + (problem.map { ": \($0)" } ?? ""),
                hint: "`larder check --restore` replaces it by the newest sound backup; the local copies stay")
        }
    }
}

extension JSONValue {
    fileprivate init(
        _ found: DatabaseCheck, restoredFrom: String?, aside: String?, queued: [QueuedChange] = [],
        left: (folder: String, snapshots: [FoundSnapshot])? = nil
    ) {
        let backups = found.backups.map { backup in
            JSONValue.object([
                "path": .string(backup.path), "made": .time(backup.made), "sound": .bool(backup.problem == nil),
                "problem": .string(backup.problem), "policies": .integer(backup.policies),
                "claims": .integer(backup.claims),
            ])
        }
        self = .object([
            "database": .string(found.path), "state": .string(found.state.rawValue), "problem": .string(found.problem),
            "backups": .array(backups), "restoredFrom": .string(restoredFrom), "keptAs": .string(aside),
            "queued": JSONValue(queued),
            "snapshots": .array(
                (left?.snapshots ?? []).map { JSONValue($0, at: "\(left?.folder ?? "")/\($0.name)") }),
        ])
    }
}
