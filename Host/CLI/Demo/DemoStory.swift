import Core
import DemoServer
import Model

/// The steps of the demo in their order. Each step prints a line or two.
struct DemoStory {
    let server: DemoServer
    let folder: DemoFolder
    let console: Console
    let isJSON: Bool
    let log: LogConfig

    /// Runs all steps.
    /// - Returns: the failures after which the demo's run went on.
    /// - Throws: the failure that ended the demo.
    func tell() async throws(Failure) -> [Failure] {
        DemoTree.fill(server.tree)
        DemoCalendars.fill(server)
        let content = Text.count(server.tree.paths.count, "file and folder", "files and folders")
        say("A WebDAV server at \(server.url), with \(content).")
        let account = AccountConfig(
            bookmark: Bookmark(
                name: "demo", url: server.url, username: server.user, vault: folder.vault,
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
                "Nobody uses \(DemoTree.letter(3)) any more: its copy is removed, and can be fetched again"
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
        let plugins = FirstParty.plugins.map { PluginSettings(id: $0.id, json: settings[$0.name] ?? "{}") }
        let config = Config(file: "", accounts: [account], settings: Settings(plugins: plugins), log: log, shown: [])
        var options = config.hostOptions(console)
        // The vault goes with the demo.
        options.knownVaults = nil
        return HostProcess(settings: config.settings, options: options)
    }

    private func steps(_ bookmark: Bookmark, _ process: HostProcess) async throws(Failure) -> [Failure] {
        let tree = server.tree
        let photos = DemoTree.photos
        let all = tree.paths.count { $0.hasPrefix(photos.prefixOfItemsBelow) && !$0.hasSuffix("/") }
        let steps = [
            Step("List the server: Larder knows all files, and fetches none", entries: 4),
            Step("Pin \(photos): the folder and everything below it is fetched", fetched: all, here: all) {
                host throws(Failure) in
                _ = try await host.perform(Pins.Add(photos))
            },
            Step("Poll again: the root's ETag shows that nothing changed", here: all),
            Step("\(DemoTree.changed) changes on the server: one file is fetched", fetched: 1, here: all) { _ in
                tree.put(DemoTree.changed, DemoTree.picture(seed: 99, size: 90_000))
            },
            Step("\(DemoTree.moved.from) moves to \(DemoTree.moved.to): the copy is renamed", here: all) { _ in
                tree.move(DemoTree.moved.from, to: DemoTree.moved.to)
            },
            Step("\(DemoTree.added) is new on the server: it is fetched too", fetched: 1, here: all + 1) { _ in
                tree.put(DemoTree.added, DemoTree.picture(seed: 7, size: 40_000))
            },
            Step("Unpin \(photos): the copies are removed, the server's files stay") { host throws(Failure) in
                _ = try await host.perform(Pins.Remove(photos))
            },
            Step("Get three letters", fetched: 3, here: 3) { host throws(Failure) in
                for number in 1...3 {
                    _ = try await host.perform(Copies.Get(ItemPath(unchecked: DemoTree.letter(number)), waits: false))
                }
            },
            Step("\(DemoTree.letter(1)) changes on the server: its outdated copy is removed", here: 2) { _ in
                tree.put(DemoTree.letter(1), "Letter 1, once more\n")
            },
            Step("\(DemoTree.letter(2)) is deleted on the server: its copy is removed", here: 1) { _ in
                tree.remove(DemoTree.letter(2))
            },
            Step("A lunch is new in the calendar \(DemoCalendars.work.name): it is fetched too", here: 1, entries: 5) {
                [server] _ in DemoCalendars.addLunch(server)
            },
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
        let (user, password) = (server.user, server.password)
        let host = try await process.open(bookmark) { AccountSecret(.basic(username: user, password: password)) }
        do throws(Failure) {
            try await step.act(host)
        } catch {
            try await host.close()
            throw error
        }
        server.forgetRequests()
        let outcome = await host.runOnce(timeout: .seconds(60))
        try await host.close()
        let requests = server.requests
        let fetched = requests.filter { $0.method == "GET" && DemoTree.isFile($0.path) && $0.status < 300 }
        let bytes = fetched.reduce(0) { $0 + $1.bytes }
        let here = await localCopies()
        let calendars = await calendars()
        let entries = calendars.reduce(0) { $0 + $1.objects }
        if isJSON {
            console.print(
                .object([
                    "step": .string(step.text), "requests": .integer(requests.count),
                    "fetched": .strings(fetched.map(\.path)), "bytes": .integer(bytes),
                    "localCopies": .integer(here?.localCopies), "localBytes": .integer(here?.localBytes),
                    "calendars": .integer(calendars.count), "calendarEntries": .integer(entries),
                ]))
        } else {
            console.print("\(step.text).")
            let got = "\(Text.count(fetched.count, "file")) fetched, \(Text.bytes(Int64(bytes)))"
            let now =
                here.map { "; here now: \(Text.count($0.localCopies, "file")), \(Text.bytes($0.localBytes))" } ?? ""
            let dates =
                step.entries == nil
                ? "" : "; \(Text.count(calendars.count, "calendar")) with \(Text.count(entries, "entry", "entries"))"
            console.print("    \(Text.count(requests.count, "request")), \(got)\(now)\(dates)")
        }
        try console.flush()
        var failures = outcome.failures + outcome.issues.map { Failure($0) }
        let isComplete = fetched.count == step.fetched && here?.localCopies == Int64(step.here)
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
                Bookmark(name: "demo", url: server.url, username: nil, vault: folder.vault, files: folder.files))
            let found = try await body(reader)
            try reader.close()
            return found
        } catch {
            console.note("larder: \(error.message)")
            return nil
        }
    }

    private func say(_ line: String) {
        if !isJSON { console.print(line) }
    }
}
