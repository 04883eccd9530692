import ArgumentParser
import Core
import Model

// Several files, and folders.

extension Put {
    /// The number of records that one request waits for.
    private static let mostAwaited = 10_000

    func upload(
        _ files: UploadedFiles, of bookmark: Bookmark, _ console: Console
    ) async throws(Failure) -> [Failure] {
        let (target, isFolder) = (files.target, files.isFolder)
        let upload = FilesUpload(files, of: bookmark, replaces: replace)
        let waits = !options.queue
        let outcome = try await carryOut(global, console, asksServer: waits) {
            host, account, hear throws(Failure) -> ChangeOutcome? in
            while let changes = await upload.next() {
                let change = ServerChange(changes, waits: false)
                guard let outcome = try await host.carryOut(change, for: account, hear: hear) else { return nil }
                await upload.queued(outcome.changes)
            }
            var all = ChangeOutcome()
            var rest = waits ? await upload.records[...] : []
            while !rest.isEmpty {
                let change = ServerChange([], after: Array(rest.prefix(Self.mostAwaited)), waits: true)
                guard let outcome = try await host.carryOut(change, for: account, hear: hear) else { return nil }
                all.failures += outcome.failures
                all.issues += outcome.issues
                all.places += outcome.places
                rest = rest.dropFirst(Self.mostAwaited)
            }
            return all
        } alone: { host, hear throws(Failure) in
            let feed = ChangeFeed {
                await upload.next() ?? []
            } queued: {
                await upload.queued($0)
            }
            return try await host.make(feed, after: upload.records, waits: waits, progress: hear)
        }
        let failures = await upload.failures + outcome.failures + outcome.issues.map { Failure($0) }
        if global.isJSON {
            if isFolder {
                try await tell(nil, target, global, console)
            } else {
                try await tell(await upload.puts, outcome.places, console)
            }
        } else {
            tell(await upload.count, of: target, failures, outcome.places, console)
        }
        return failures
    }

    /// Prints the record of each upload that is queued, and the item of each that is done.
    private func tell(
        _ puts: [FilesUpload.Put], _ places: [ChangeOutcome.Place], _ console: Console
    ) async throws(Failure) {
        let places = Dictionary(places.map { ($0.record, $0.path) }) { _, last in last }
        let wanted = Set(puts.compactMap(\.record))
        let left = Collector<SyncRecordReport>()
        try await global.withReader { reader throws(Failure) in
            try await reader.records { if wanted.contains($0.record.id) { left.add($0) } }
            let queued = Dictionary(left.all.map { ($0.record.id, $0) }) { first, _ in first }
            for put in puts {
                if let report = put.record.flatMap({ queued[$0] }) {
                    console.print(JSONValue(report))
                } else if let item = try await reader.lastItem(at: put.record.flatMap { places[$0] } ?? put.path) {
                    console.print(JSONValue(item))
                }
            }
        }
    }

    private func tell(
        _ count: Int, of target: ItemPath, _ failures: [Failure], _ places: [ChangeOutcome.Place], _ console: Console
    ) {
        for place in places {
            console.print("\(Text.visible(place.path.text)): uploaded beside the version that the server has")
        }
        let (name, files) = (Text.visible(target.text), Text.count(count, "file"))
        if options.queue {
            console.print("\(name): \(files) queued, for the running host or the next run")
        } else if failures.isEmpty {
            console.print("\(name): \(files) uploaded")
        }
    }
}
