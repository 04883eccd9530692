import ArgumentParser
import Core
import Glibc
import Logging
import Model
import Threads

struct PluginDev: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Build a plugin at each save, and run it in a host with a demo's server.",
        discussion: """
            The folder is one as `larder plugin new` makes it: `./build` in it leaves `out/NAME.so`. Starts the server and \
            the account of `larder demo --serve`, builds the plugin, and runs it in a host. Each time that a file in the \
            folder is saved, the plugin is built again, and the host starts again with it; if the build fails, or the \
            library cannot be used, the host goes on with the plugin that it has. What is in `out`, `build` and `target`, and hidden \
            files do not count as saved. Of the host's log and calls, those of the plugin are shown. Ctrl-C ends all, and \
            removes the account.
            """)

    @OptionGroup var global: GlobalOptions
    @Argument(help: "The folder of the plugin.", completion: .file()) var folder: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let project = try PluginProject(folder)
        let level = try global.level() ?? .info
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        let demo = try await ServedDemo.start()
        do throws(Failure) { try demo.folder.writeConfig(for: demo.server.contents, with: nil) } catch {
            await demo.end()
            throw error
        }
        if global.isJSON {
            console.print(.object(demo.members))
        } else {
            for line in demo.lines { console.print(line) }
            console.print("Each save in \(project.folder) is built and runs in the host. Ctrl-C ends all.")
        }
        console.send()
        let work = DevLoop(
            project: project, demo: demo, console: console, level: level, isJSON: global.isJSON,
            lines: DevLines(isJSON: global.isJSON))
        let failure = await withTaskGroup(of: Failure?.self) { group in
            group.addTask {
                for await _ in ends { break }
                return nil
            }
            group.addTask { await demo.untilServerEnded() }
            group.addTask {
                await work.run()
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            await group.waitForAll()
            return first
        }
        await demo.end()
        return failure.map { [$0] } ?? []
    }
}
