import ArgumentParser
import Core
import Glibc
import Model
import Threads

struct PluginNew: LarderCommand {
    static let configuration = CommandConfiguration(
        commandName: "new", abstract: "Begin a plugin of your own.",
        usage: "larder plugin new --language <language> --kind <kind> <name>",
        discussion: """
            Makes a folder with a plugin that works, to be changed, and a test. In the folder, `./build` leaves \
            `out/NAME.so`, and `./test` tests it on the fake host. Both need a compiler for the language, and no network. \
            The name consists of lower-case letters, digits and `-`, and begins with a letter.
            """)

    @OptionGroup var global: GlobalOptions
    @Option(
        help: ArgumentHelp("c, cpp, rust or swift, as far as this program has them.", valueName: "language"),
        completion: .templateLanguage)
    var language: String
    @Option(
        help: ArgumentHelp("processor, which decides about items, or loop, which asks the server.", valueName: "kind"),
        completion: .templateKind)
    var kind: String
    @Argument(help: "The name of the plugin and of the folder.") var name: String

    func perform(_ console: Console) async throws(Failure) -> [Failure] {
        let name = try NewPluginName(name)
        // A signal ends the command once what it has begun is removed.
        let ends = try Signals(heeding: SIGINT, SIGTERM, SIGHUP, SIGQUIT)
        let end = Monitor<Int32?>(nil)
        let hearing = Task {
            for await signal in ends {
                end.change { $0 = signal }
                break
            }
        }
        defer { hearing.cancel() }
        let made = try await runBlocking { [language, kind] () -> Result<String?, Failure> in
            do throws(Failure) {
                let template = try Template(language: language, kind: kind, among: Template.all())
                return .success(try template.copy(for: name, sdk: BuiltIn.sdk) { end.with(\.self) != nil })
            } catch {
                return .failure(error)
            }
        }.get()
        guard let made else { ProcessSetup.leave(128 + (end.with(\.self) ?? SIGTERM)) }
        if global.isJSON {
            console.print(
                .object([
                    "id": .string(name.id), "folder": .string(made), "language": .string(language),
                    "kind": .string(kind), "sdk": .string(BuiltIn.sdk),
                ]))
        } else {
            console.print("\(name.text) is made: ./build in it leaves out/\(name.text).so, ./test tests that")
        }
        if BuiltIn.sdk == nil {
            console.note(
                "larder: this program was not installed with an SDK; before ./build, install one with ./Host/install, and "
                    + "set LARDER_SDK to its prefix")
        }
        return []
    }
}
