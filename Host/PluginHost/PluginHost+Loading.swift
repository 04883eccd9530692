import CLarder
import CLinux
import Digests
import Glibc
import Logging
import Model
import Threads

extension PluginHost {
    /// Inspects a plugin that the config names, and opens its library if it may be opened.
    /// - Throws: The reason why the plugin is not used.
    func prepare(_ entry: inout Entry, _ named: Discovery.Named) async throws(Refusal) {
        guard let library = named.library else {
            entry.report.state = .missing
            entry.report.onDisk = .missing
            entry.report.reason = Self.absence(of: named)
            if named.settings.isEnabledAnywhere {
                logger.warning("The plugin \(entry.report.id) is missing: \(entry.report.reason ?? "")")
            }
            return
        }
        guard named.settings.isEnabledAnywhere else {
            entry.report.state = .disabled
            return
        }
        guard named.isolation == .inProcess else { throw .isolation }
        let opened = try await open(library)
        let description = try opened.library.description(of: named.settings.id)
        entry.report.name = description.name
        entry.report.version = description.version
        entry.report.abi = opened.library.abi
        (entry.report.vendor, entry.report.summary) = (description.vendor, description.summary)
        (entry.report.required, entry.report.wanted) = (description.required, description.wanted)
        (entry.report.openedMark, entry.report.neighbours) = (
            opened.library.image.mark, opened.library.image.neighbours
        )
        try description.checkServices(withheld: named.settings.withheld)
        let settings = named.settings
        let account = AccountEnvironment(name: "", logger: logger, clock: clock)
        let (kinds, defaults, schema): ([String], JSONValue, JSONValue)
        do {
            (kinds, defaults, schema) = try await opened.thread.run {
                let instance = try PluginInstance(
                    description, in: opened.library, settings: settings.json, overrides: settings.overrides,
                    thread: opened.thread, account: account)
                instance.discard()
                return (instance.kinds, instance.settingDefaults, instance.schema)
            }
        } catch {
            throw error as? Refusal ?? .createFailed("\(error)")
        }
        for kind in kinds {
            if let other = entries.first(where: { $0.ready != nil && $0.report.kinds.contains(kind) }) {
                throw .duplicateKind(kind, of: other.report.id)
            }
        }
        entry.report.kinds = kinds
        entry.report.settingDefaults = defaults
        entry.report.schema = schema
        entry.report.state = .ready
        entry.ready = (opened, description)
    }

    /// Opens a library once for all plugins in it, after it was found to be safe.
    private func open(_ path: String) async throws(Refusal) -> Opened {
        if let before = libraries[path] { return try before.get() }
        let result: Result<Opened, Refusal>
        do throws(Refusal) { result = .success(try await openFirst(path)) } catch { result = .failure(error) }
        libraries[path] = result
        return try result.get()
    }

    private func openFirst(_ path: String) async throws(Refusal) -> Opened {
        if let refusal = PathSafety.refusal(of: path) ?? ELFHeader.refusal(of: path) { throw refusal }
        let thread: SerialThread
        do throws(ThreadError) {
            thread = try SerialThread.forPlugin(
                String(path[(path.lastIndex(of: "/") ?? path.startIndex)...].dropFirst()))
        } catch {
            throw .lack("the library cannot be opened: no thread can be created for it", error.code)
        }
        do {
            let image = try await thread.run { try LibraryImage(of: path) }
            try await tryFirst(image, on: thread)
            linux_find_polls()
            let library = try await thread.run { try PluginLibrary.open(image) }
            return Opened(library: library, thread: thread)
        } catch {
            await thread.close()
            throw error as? Refusal ?? .cannotOpen("\(error)")
        }
    }

    /// Lets a child process open the library first, unless the same bytes were opened before. The digest of the bytes is
    /// not computed again while the file's mark stays the same.
    private func tryFirst(_ image: LibraryImage, on thread: SerialThread) async throws {
        let path = image.source
        let minor = Int(LARDER_ABI_MINOR)
        let mark = try Self.mark(of: path, at: clock.now())
        if let mark, await remembered(mark, minor) != nil { return }
        let digest = try await thread.run { try LibraryMark.digest(of: image.path) }
        if let before = await remembered(digest, minor) {
            if let refusal = before.refusal { throw Refusal.probe(refusal) }
            if let mark { await remember(mark, minor, refusal: nil) }
            return
        }
        let probe = probe
        let outcome = try await thread.run { probe.run(library: path) }
        guard LibraryMark.isOpened(image.mark, at: path) else {
            throw Refusal.cannotOpen("it was written while it was tested; it is tried again at the next start")
        }
        switch outcome {
        case .described:
            await remember(digest, minor, refusal: nil)
            if let mark { await remember(mark, minor, refusal: nil) }
        // The library is not remembered, because another library that it needs may be missing today and there tomorrow.
        case .refused(let reason), .unknown(let reason): throw Refusal.probe(reason)
        case .lack(let what, let code): throw Refusal.lack(what, code)
        case .deadly(let reason):
            await remember(digest, minor, refusal: reason)
            throw Refusal.probe(reason)
        }
    }

    private func remembered(_ digest: [UInt8], _ minor: Int) async -> ProbedLibrary? {
        do { return try await memory?.library(digest: digest, hostMinor: minor) } catch {
            logger.debug("The record of tested libraries cannot be read: \(error)")
            return nil
        }
    }

    private func remember(_ digest: [UInt8], _ minor: Int, refusal: String?) async {
        do {
            try await memory?.remember(ProbedLibrary(refusal: refusal), digest: digest, hostMinor: minor)
        } catch {
            logger.debug("The test of a library cannot be recorded: \(error)")
        }
    }

    /// Returns a digest of the file's mark, which differs for another file and for the same file after a write. As a
    /// digest, the mark is remembered like the bytes' own digest.
    /// - Returns: nil if the file changed in the last 2 s, so that it may change again without a new time.
    private static func mark(of path: String, at now: Timestamp) throws(Refusal) -> [UInt8]? {
        var info = stat()
        guard stat(path, &info) == 0 else { throw .unreadable(errno) }
        guard now - Timestamp(info.st_ctim) > .seconds(2) else { return nil }
        return MessageDigest.of(Array(LibraryMark.text(info).utf8))
    }

    private static func absence(of named: Discovery.Named) -> String {
        let id = named.settings.id
        let isFirstParty = named.settings.library == nil && id.shortName != id.text
        if isFirstParty, FirstParty.plugin(id) == nil { return "it is not in this build" }
        if named.searched.isEmpty { return "no library is named; set library: in the config" }
        let unreadable = named.unreadable.map { "\($0.folder) cannot be read: \(String(cString: strerror($0.code)))" }
        let place = "searched in \(named.searched.joined(separator: ", "))"
        return (["no library is there", place] + unreadable).joined(separator: "; ")
    }
}
