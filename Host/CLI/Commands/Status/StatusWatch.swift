import Core
import Glibc
import Model
import Synchronization
import Threads

/// `larder status --watch`: the state of accounts, drawn again in place on a terminal, else printed when it changes.
struct StatusWatch {
    /// The shortest time between two frames on a terminal, and between two blocks or lines elsewhere.
    private static let pauses = (terminal: Duration.milliseconds(200), elsewhere: Duration.seconds(1))

    /// What is shown.
    private struct Shown: Sendable {
        var views: [AccountView?]
        var rates: [TransferRates]
        var isOver = false
    }

    /// What is shown, which the tasks that follow the accounts change.
    private final class Board: Sendable {
        private let shown: Mutex<Shown>
        private let start = ContinuousClock.now
        /// Sent when something has changed.
        let changed = Signal()

        init(accounts: Int) {
            shown = Mutex(
                Shown(
                    views: Array(repeating: nil, count: accounts),
                    rates: Array(repeating: TransferRates(), count: accounts)))
        }

        var current: Shown { shown.withLock { $0 } }

        func end() {
            shown.withLock { $0.isOver = true }
            changed.send()
        }

        func take(_ view: AccountView, at index: Int) {
            let time = start.duration(to: .now)
            shown.withLock { shown in
                var view = view
                // The host tells nothing of an account that is not at work.
                if view.status == nil { view.status = shown.views[index]?.status }
                shown.views[index] = view
                if let progress = view.progress {
                    shown.rates[index].add(progress, view.transfers, at: time)
                } else {
                    shown.rates[index] = TransferRates()
                }
            }
            changed.send()
        }
    }

    private let config: Config
    private let accounts: [AccountConfig]
    private let plugins: [PluginReport]
    private let console: Console
    private let isJSON: Bool
    private let board: Board

    /// - Parameter plugins: what is known of the plugins without an account.
    init(_ config: Config, _ accounts: [AccountConfig], plugins: [PluginReport], isJSON: Bool, _ console: Console) {
        (self.config, self.accounts, self.plugins) = (config, accounts, plugins)
        (self.isJSON, self.console) = (isJSON, console)
        board = Board(accounts: accounts.count)
    }

    /// Watches until a signal ends the command, or nobody reads its output any more.
    /// - Throws: `localIO` if the system lacks a thread or a descriptor.
    func run() async throws(Failure) {
        let ends = try Signals(heeding: SIGINT, SIGTERM)
        let resizes = try Signals(heeding: SIGWINCH)
        let isScreen = console.hasScreen && !isJSON
        if isScreen { await write(Screen.begin) }
        await withTaskGroup { [board, console] group in
            for (index, account) in accounts.enumerated() {
                let following = AccountFollowing(account: account, config: config.file) { board.take($0, at: index) }
                group.addTask { await following.run() }
            }
            group.addTask {
                for await _ in ends { break }
                board.end()
                // A reader that has stopped reading must not keep the command.
                do { try await Task.sleep(for: .seconds(2)) } catch { return }
                _exit(0)
            }
            group.addTask { for await _ in resizes { board.changed.send() } }
            group.addTask {
                // A reader that has closed a pipe is noticed also while nothing changes.
                while !Task.isCancelled, !console.isReaderGone {
                    do { try await Task.sleep(for: .seconds(1)) } catch { return }
                }
                board.end()
            }
            if isScreen { await draw() } else { await tell() }
            group.cancelAll()
        }
        if isScreen { await write(Screen.end) }
    }

    /// Writes to the terminal, which may take its time.
    private func write(_ text: String) async {
        await runBlocking { [console] in console.write(Array(text.utf8), endingLine: false) }
    }

    private func reports(_ view: AccountView, _ index: Int) -> [PluginReport] {
        plugins.map {
            $0.asSet(for: [accounts[index]], in: config).seen(by: view.status?.plugins ?? PluginNotes(), config)
        }
    }

    private func block(_ shown: Shown, _ index: Int, width: Int) -> [String] {
        guard let view = shown.views[index] else { return ["\(accounts[index].bookmark.name):"] }
        return view.lines(
            account: accounts[index].bookmark.name, shown.rates[index], plugins: reports(view, index), width: width)
    }

    /// Draws on the terminal.
    private func draw() async {
        while true {
            let shown = board.current
            if shown.isOver { return }
            let size = console.screenSize
            let lines = shown.views.indices.flatMap { block(shown, $0, width: size.columns) }
            await write(Screen.frame(lines, size))
            await board.changed.wait()
            do { try await Task.sleep(for: Self.pauses.terminal) } catch { return }
        }
    }

    /// Prints a block or a line for each account whose state has changed.
    private func tell() async {
        var told: [[String]] = accounts.map { _ in [] }
        while true {
            await board.changed.wait()
            let shown = board.current
            if shown.isOver { return }
            var news: [[String]] = []
            for index in accounts.indices {
                guard let view = shown.views[index] else { continue }
                let lines =
                    isJSON
                    ? view.json(shown.rates[index], plugins: reports(view, index)).map { [$0.text] }
                    : block(shown, index, width: 120) + [""]
                guard let lines, lines != told[index] else { continue }
                told[index] = lines
                news.append(lines)
            }
            await runBlocking { [console, news] in
                for line in news.joined() { console.print(line) }
                console.send()
            }
            do { try await Task.sleep(for: Self.pauses.elsewhere) } catch { return }
        }
    }
}
