import Glibc
import Model

/// The reason why a library or a plugin in it is not used. Each reason has its own sentence. The host runs on without
/// the plugin.
enum Refusal: Error, Hashable, Sendable {
    case unreadable(Int32)
    case notELF
    case wrongClass(String)
    case wrongMachine(theirs: String, ours: String)
    case notShared
    case cutOff
    /// A path that others may change: it is writable by others or belongs to another user.
    case unsafe(String)
    case cannotOpen(String)
    /// The system has too few threads, processes, descriptors or memory.
    case lack(String, Int32)
    case unresolved(String)
    case noEntry
    case tooNew(String)
    case tooOld(String)
    case entryFailed(String)
    case nullTable(String)
    case badSize(table: String, size: Int, smallest: Int)
    case nullFunction(table: String, member: String)
    case badText(String)
    case duplicateInLibrary(PluginID)
    case duplicate(PluginID, of: String)
    case notConfigured(PluginID, found: [PluginID])
    case isolation
    case service(String)
    case withheld(String, from: PluginID)
    case probe(String)
    case settings([SettingProblem])
    /// A plugin's schema of settings that is wrong.
    case schema(String)
    case createFailed(String)
    case startFailed(String)
    case duplicateKind(String, of: PluginID)
    case held(LibraryHold)

    /// Whether the plugin can run again only after a person's command or with another build.
    var isQuarantine: Bool {
        guard case .held(let hold) = self else { return false }
        return hold.until == nil
    }

    /// Whether the reason is no fault of the library, and may be gone soon.
    var isLack: Bool {
        switch self {
        case .lack: true
        case .unreadable(let code): [EMFILE, ENFILE, ENOMEM, EAGAIN].contains(code)
        default: false
        }
    }

    /// The reason as a sentence for people.
    var reason: String {
        switch self {
        case .unreadable(let code): "the library cannot be read: \(String(cString: strerror(code)))"
        case .notELF: "not a shared library: it is not an ELF file"
        case .wrongClass(let what): "not a library for this machine: \(what)"
        case .wrongMachine(let theirs, let ours): "built for \(theirs), and this machine is \(ours)"
        case .notShared: "an ELF file, but not a shared library"
        case .cutOff: "the library is cut off: its file ends before what its header names; copy or build it again"
        case .unsafe(let what): what
        case .cannotOpen(let why): "the library cannot be opened: \(why)"
        case .lack(let what, let code): "\(what): \(String(cString: strerror(code)))"
        case .unresolved(let name): "unresolved symbol: nothing defines \(name)"
        case .noEntry: "no entry symbol: it exports no larder_plugin_entry_v1"
        case .tooNew(let what): "ABI too new: \(what)"
        case .tooOld(let what): "ABI too old: \(what)"
        case .entryFailed(let what): what
        case .nullTable(let table): "null table: \(table)"
        case .badSize(let table, let size, let smallest):
            "bad size: \(table) says that it has \(size) bytes; between \(smallest) and 65536 are possible"
        case .nullFunction(let table, let member): "null function: \(table).\(member)"
        case .badText(let what): "bad text: \(what)"
        case .duplicateInLibrary(let id): "duplicate id: the library describes \(id) twice"
        case .duplicate(let id, let first): "duplicate id: \(id) is provided by \(first) already"
        case .notConfigured(let id, let found):
            "id not as configured: the library has no \(id)"
                + (found.isEmpty ? "; it describes no plugin" : "; it has \(found.map(\.text).joined(separator: ", "))")
        case .isolation:
            "isolation: process is not available in this build; to run the plugin inside the host, where it can do "
                + "everything that the host can do, set isolation: in-process"
        case .service(let name): "it requires the service \(name), which this host does not grant"
        case .withheld(let name, let id):
            "it requires the service \(name), which the config withholds; to grant it, remove it from `withhold` under "
                + "`plugins.\(id.shortName)`"
        case .probe(let what): what
        case .settings(let problems): "settings: \(problems.map(\.text).joined(separator: "; "))"
        case .schema(let what): "bad text: \(what)"
        case .createFailed(let what), .startFailed(let what): what
        case .duplicateKind(let kind, let other): "duplicate kind: \(other) already processes \(kind)"
        case .held(let hold): hold.reason
        }
    }

    /// What can be done about it, if the reason does not say it.
    var advice: Advice? {
        if case .held(let hold) = self { return hold.advice }
        return nil
    }
}
