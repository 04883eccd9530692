import FakeHost
import Glibc
import LarderFakeHost
public import Model
import PluginHost

/// A plugin of the library under check.
struct PluginCase: Sendable {
    let id: PluginID
    let required: [String]
    let wanted: [String]
}

/// The place of one check, in a process of its own: the library, the seed of its random numbers, and the note of what it
/// is doing, which the process that waits for it reads if it ends.
///
/// Unchecked: a check uses it on one thread at a time.
public final class CheckSite: @unchecked Sendable {
    /// The library's absolute path.
    let library: String
    let seed: UInt64
    private let note: CheckNote
    private let board: CallBoard
    /// What the check is doing, such as a trigger and settings.
    private(set) var doing: String?
    private var described: [PluginCase]?
    private var ordinary: [PluginID: Set<[String]>] = [:]

    /// - Parameters:
    ///   - library: The absolute path of the library.
    ///   - seed: The seed of all random numbers.
    ///   - folder: A folder of the check's own.
    /// - Throws: `localIO` if the folder cannot be written.
    public init(library: String, seed: UInt64, folder: String) throws(Failure) {
        (self.library, self.seed) = (library, seed)
        note = try CheckNote(in: folder)
        board = try CallBoard(path: CheckNote.board(in: folder), room: 256)
    }

    /// Makes a check.
    public func make(_ check: PluginCheck) -> CheckOutcome {
        do { return try check.body(self) } catch let finding as Finding {
            return .found(finding)
        } catch let skipped as Skipped {
            return .skipped(skipped.reason)
        } catch {
            return .found(Finding("the check itself failed: \(error)"))
        }
    }

    /// What the host notes of the copies that the plugin under check brought.
    private(set) var ownTrigger: String?

    /// Notes what the check does now.
    func note(plugin: String?, doing: String?) {
        self.doing = doing
        ownTrigger = plugin.map { DownloadTrigger(of: PluginID($0)).text }
        note.write(plugin: plugin, doing: doing)
    }

    /// Notes what the check does now with the same plugin.
    func now(_ doing: String?) {
        self.doing = doing
        note.write(doing: doing)
    }

    /// The plugins of the library.
    /// - Throws: ``Skipped`` if the host cannot use the library; another check says why.
    func plugins() throws -> [PluginCase] {
        if let described { return described }
        let stage = Stage(self)
        if let problem = stage.problem { throw Skipped(reason: "the library cannot be used: \(problem)") }
        let found = stage.access.plugins.map { id in
            let services = stage.access.services(of: id)
            return PluginCase(id: id, required: services.required, wanted: services.wanted)
        }
        described = found
        return found
    }

    /// The mistakes that a plugin makes in an ordinary run of each trigger and a turn of each loop: their names, texts and
    /// statuses.
    func ordinaryMistakes(of plugin: PluginCase?) throws -> Set<[String]> {
        guard let plugin else { return [] }
        if let known = ordinary[plugin.id] { return known }
        let doing = doing
        now("an ordinary run")
        let stage = Stage(self)
        try stage.start(plugin)
        var random = random()
        stage.put(StageItem.some(60, &random))
        stage.work()
        stage.stop()
        let mistakes = Set(
            stage.entries(LARDER_FAKE_MISTAKE).map { [$0.name, $0.text ?? "", statusName($0.status)] })
        ordinary[plugin.id] = mistakes
        now(doing)
        return mistakes
    }

    /// Opens the library in a scripted host.
    func open() -> OpaquePointer { FakeHostAccess.open(library, board) }

    /// Returns a generator of random numbers.
    /// - Parameter salt: What tells the sequences of a check apart.
    func random(_ salt: UInt64 = 0) -> RandomNumbers { RandomNumbers(seed: seed &+ salt &* 0x9e37_79b9_7f4a_7c15) }
}

/// A sequence of random numbers that its seed reproduces (SplitMix64).
struct RandomNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
