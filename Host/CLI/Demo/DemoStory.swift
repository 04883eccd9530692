import Core
import Model

/// The steps of the demo in their order. Each step prints a line or two.
struct DemoStory {
    let server: DemoChild
    let folder: DemoFolder
    let console: Console
    let isJSON: Bool
    let log: LogConfig

    /// Runs all steps.
    /// - Returns: the failures after which the demo's run went on.
    /// - Throws: the failure that ended the demo.
    func tell() async throws(Failure) -> [Failure] {
        let content = Text.count(server.contents.items, "file and folder", "files and folders")
        say("A WebDAV server at \(server.contents.url), with \(content).")
        let account = AccountConfig(
            bookmark: Bookmark(
                name: "demo", url: server.contents.url, username: server.contents.user, vault: folder.vault,
                files: folder.files),
            secret: .none)
        let process = process(account, with: ["vacuum": #"{"after": "0s"}"#])
        for plugin in await process.pluginReports().map(\.inWords) where plugin.state != .found {
            say(
                "The plugin \(plugin.id.shortName) is \(plugin.state.rawValue)\(plugin.reason.map { ": \($0)" } ?? "")."
            )
        }
        var failures: [Failure] = []
        do {
            failures = try await steps(account.bookmark, process)
        } catch {
            failures.append(error)
        }
        try await process.close()
        guard failures.isEmpty else { return failures }
        // This process uses one second for the delay that is a week by default.
        let hasty = self.process(account, with: ["download-expiration": #"{"after": "1s"}"#])
        do {
            let step = Step(
                "Nobody uses \(server.contents.letters[2]) any more: its copy is removed, and can be fetched again"
            ) {
                _ in await Self.pause()
            }
            failures = try await run(step, account.bookmark, hasty)
        } catch {
            failures.append(error)
        }
        try await hasty.close()
        return failures
    }

    private static func pause() async {
        do { try await Task.sleep(for: .milliseconds(1_100)) } catch { return }
    }

    /// Makes a host with all first-party plugins, some of them with settings.
    /// - Parameter settings: the settings as JSON, by the plugin's name.
    private func process(_ account: AccountConfig, with settings: [String: String]) -> HostProcess {
        let plugins = FirstParty.plugins.map { FirstParty.settings(of: $0.id, json: settings[$0.name] ?? "{}") }
        let config = Config(file: "", accounts: [account], settings: Settings(plugins: plugins), log: log, shown: [])
        var options = config.hostOptions(console)
        // The vault goes with the demo.
        options.knownVaults = nil
        return HostProcess(settings: config.settings, options: options)
    }

    private func steps(_ bookmark: Bookmark, _ process: HostProcess) async throws(Failure) -> [Failure] {
        let contents = server.contents
        let photos = ItemPath(unchecked: contents.photos)
        let all = contents.pictures
        let act = { [server] (name: String) -> Step.Act in { _ throws(Failure) in try await server.act(name) } }
        let steps = [
            Step("List the server: Larder knows all files, and fetches none", entries: 4),
            Step("Pin \(photos): the folder and everything below it is fetched", fetched: all, here: all) {
                host throws(Failure) in
                _ = try await host.perform(Pins.Add(photos))
            },
            Step("Poll again: the root's ETag shows that nothing changed", here: all),
            Step(
                "\(contents.changed) changes on the server: one file is fetched", fetched: 1, here: all,
                act: act("change")),
            Step(
                "\(contents.movedFrom) moves to \(contents.movedTo): the copy is renamed", here: all,
                act: act("move")),
            Step(
                "\(contents.added) is new on the server: it is fetched too", fetched: 1, here: all + 1,
                act: act("add")),
            Step("Unpin \(photos): the copies are removed, the server's files stay") { host throws(Failure) in
                _ = try await host.perform(Pins.Remove(photos))
            },
            Step("Get three letters", fetched: 3, here: 3) { host throws(Failure) in
                for letter in contents.letters {
                    _ = try await host.perform(Copies.Get(ItemPath(unchecked: letter), waits: false))
                }
            },
            Step(
                "\(contents.letters[0]) changes on the server: its outdated copy is removed", here: 2,
                act: act("change letter")),
            Step(
                "\(contents.letters[1]) is deleted on the server: its copy is removed", here: 1,
                act: act("remove letter")),
            Step(
                "A lunch is new in the calendar \(contents.calendar): it is fetched too", here: 1, entries: 5,
                act: act("add lunch")),
        ]
        var failures: [Failure] = []
        for step in steps { failures += try await run(step, bookmark, process) }
        return failures
    }

    /// A step's description, action and expected outcome.
    private struct Step {
        typealias Act = (AccountHost) async throws(Failure) -> Void

        let text: String
        /// The number of files that the step fetches.
        let fetched: Int
        /// The number of local copies after the step.
        let here: Int
        /// The number of calendar entries after the step; nil if the step is not about calendars.
        let entries: Int?
        /// The action before the run.
        let act: Act

        init(_ text: String, fetched: Int = 0, here: Int = 0, entries: Int? = nil, act: @escaping Act = { _ in }) {
            self.text = text
            self.fetched = fetched
            self.here = here
            self.entries = entries
            self.act = act
        }
    }

    /// Performs the step's action, runs once, and prints the number of requests, the files and bytes fetched, and the
    /// local copies after the run.
    private func run(
        _ step: Step, _ bookmark: Bookmark, _ process: HostProcess
    ) async throws(Failure) -> [Failure] {
        let (user, password) = (server.contents.user, server.contents.password)
        let host = try await process.open(bookmark) { AccountSecret(.basic(username: user, password: password)) }
        do throws(Failure) {
            try await step.act(host)
            _ = try await server.takeRequests()
        } catch {
            try await host.close()
            throw error
        }
        let outcome = await host.runOnce(timeout: .seconds(60))
        try await host.close()
        let asked = try await server.takeRequests()
        let here = await localCopies()
        let calendars = await calendars()
        let entries = calendars.reduce(0) { $0 + $1.objects }
        if isJSON {
            console.print(
                .object([
                    "step": .string(step.text), "requests": .integer(asked.count),
                    "fetched": .strings(asked.fetched), "bytes": .integer(asked.bytes),
                    "localCopies": .integer(here?.localCopies), "localBytes": .integer(here?.localBytes),
                    "calendars": .integer(calendars.count), "calendarEntries": .integer(entries),
                ]))
        } else {
            console.print("\(step.text).")
            let got = "\(Text.count(asked.fetched.count, "file")) fetched, \(Text.bytes(Int64(asked.bytes)))"
            let now =
                here.map { "; here now: \(Text.count($0.localCopies, "file")), \(Text.bytes($0.localBytes))" } ?? ""
            let dates =
                step.entries == nil
                ? "" : "; \(Text.count(calendars.count, "calendar")) with \(Text.count(entries, "entry", "entries"))"
            console.print("    \(Text.count(asked.count, "request")), \(got)\(now)\(dates)")
        }
        try console.flush()
        var failures = outcome.failures + outcome.issues.map { Failure($0) }
        let isComplete = asked.fetched.count == step.fetched && here?.localCopies == Int64(step.here)
        if !isComplete || step.entries.map({ $0 != entries }) == true {
            let dates = step.entries.map { " and \($0) entries of calendars" } ?? ""
            failures.append(
                Failure(
                    .failed,
                    "this step should have fetched \(step.fetched) files and left \(step.here) files\(dates) here: "
                        + step.text,
                    hint: "`larder demo --keep --log-level debug` shows more"))
        }
        return failures
    }

    private func localCopies() async -> AccountStatus? {
        await reading { reader throws(Failure) in try await reader.status() }
    }

    private func calendars() async -> [CachedCalendar] {
        await reading { reader throws(Failure) in try await reader.calendars() } ?? []
    }

    private func reading<Found>(_ body: (AccountReader) async throws(Failure) -> Found) async -> Found? {
        do throws(Failure) {
            let reader = try AccountReader.open(
                Bookmark(
                    name: "demo", url: server.contents.url, username: nil, vault: folder.vault, files: folder.files))
            return try await reader.close(after: body)
        } catch {
            console.note("larder: \(error.message)")
            return nil
        }
    }

    private func say(_ line: String) {
        if !isJSON { console.print(line) }
    }
}
