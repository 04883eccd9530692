import CLarder
import FakeHost
import Glibc
import Model
import PluginHost

/// Loading and describing.
let loadingChecks: [PluginCheck] = [
    PluginCheck("PV10", .loading, "It opens alone, with all symbols bound at once") { site in
        if LibraryFile.refusal(of: site.library) != nil { return .skipped("it is no library for this machine") }
        guard dlopen(site.library, RTLD_NOW | RTLD_LOCAL | Int32(RTLD_NODELETE)) != nil else {
            throw Finding(
                "it cannot be opened: \(dlerror().map { String(cString: $0) } ?? "unknown error")",
                advice: "Link it with everything that it uses, except for the interface")
        }
        return .passed
    },
    PluginCheck("PV11", .loading, "Its entry function and the description take less than 50 ms") { site in
        let entry = try RawModule.entry(of: site.library)
        // The machine may have other work, so that the least of some times counts.
        var least = Duration.seconds(60)
        for _ in 0..<5 {
            let start = ContinuousClock.now
            var table: UnsafePointer<larder_module>?
            guard entry(UInt32(LARDER_ABI_MINOR), &table) == LARDER_OK, let table else {
                throw Finding("its entry function does not hand out a module")
            }
            for index in UInt32(0)..<256 where table.pointee.describe(index) == nil { break }
            least = min(least, ContinuousClock.now - start)
        }
        guard least < .milliseconds(50) else {
            throw Finding(
                "its entry function and describe took \(least.formattedMilliseconds), and at most 50 ms are allowed",
                advice: "Do the work in start: tools open a library only to describe it")
        }
        return .passed
    },
    PluginCheck("PV12", .loading, "Entry and description change nothing of the process") { site in
        // What the language's runtime does once is none of the plugin's doing, as far as it is done by then.
        let before = ProcessState()
        let module = try RawModule(site.library)
        _ = module.ids
        if let change = ProcessState().change(since: before) {
            throw Finding(
                "before any instance was created, \(change)",
                advice: "Begin in start, and end in stop")
        }
        return .passed
    },
    PluginCheck("PV13", .loading, "It hands out the same tables each time") { site in
        let entry = try RawModule.entry(of: site.library)
        let module = try RawModule(site.library)
        var table: UnsafePointer<larder_module>?
        guard entry(UInt32(LARDER_ABI_MINOR), &table) == LARDER_OK, table == module.module else {
            throw Finding("its entry function hands out another module at the second call")
        }
        for (index, id) in module.ids.enumerated() {
            let describe = module.module.pointee.describe
            guard describe(UInt32(index)) == describe(UInt32(index)) else {
                throw Finding("describe returns another descriptor of \(id) at the second call")
            }
            guard let instance = module.create(id, StubHost()) else { continue }
            defer { instance.pointee.destroy(instance.pointee.context) }
            for name in [LARDER_EXT_ITEM_POLICY_PROCESSOR, LARDER_EXT_EVENT_LOOP, LARDER_EXT_CONFIG_SCHEMA] {
                let (first, second) = (instance.extension(name), instance.extension(name))
                if first != second { throw Finding("extension returns another table of \(name) at the second call") }
            }
        }
        return .passed
    },
    PluginCheck("PV14", .loading, "It works with a host of any minor version, or refuses it cleanly") { site in
        let entry = try RawModule.entry(of: site.library)
        for minor in [0, UInt32(LARDER_ABI_MINOR), 1_000_000] {
            site.now("a host of the version \(LARDER_ABI_MAJOR).\(minor)")
            let untouched = UnsafePointer<larder_module>(bitPattern: 16)
            var table = untouched
            let status = entry(minor, &table)
            switch status {
            case LARDER_OK:
                guard let table, table != untouched else { throw Finding("its entry function sets no module") }
                for index in UInt32(0)..<256 where table.pointee.describe(index) == nil { break }
            case LARDER_UNSUPPORTED:
                guard minor != LARDER_ABI_MINOR else {
                    throw Finding("it refuses the version \(LARDER_ABI_MAJOR).\(minor), which this host has")
                }
                guard table == untouched else {
                    throw Finding("its entry function returns LARDER_UNSUPPORTED and sets a module all the same")
                }
            default:
                throw Finding("its entry function returns \(statusName(status)) for a host of another version")
            }
        }
        return .passed
    },
    PluginCheck("PV15", .loading, "Its tables have their sizes and no null function") { site in
        try refusal(site, "bad size", "null function", "null table")
    },
    PluginCheck("PV16", .loading, "Its descriptors have valid ids, names and versions") { site in
        try refusal(site, "bad text")
    },
    PluginCheck("PV17", .loading, "It describes each plugin once, without a hole") { site in
        let module = try RawModule(site.library)
        let ids = module.ids
        if let twice = ids.first(where: { id in ids.count { $0 == id } > 1 }) {
            throw Finding("it describes \(twice) twice")
        }
        guard !ids.isEmpty else { throw Finding("it describes no plugin") }
        for index in UInt32(ids.count)..<UInt32(ids.count + 64) where module.module.pointee.describe(index) != nil {
            throw Finding("it describes nothing at the index \(ids.count), and something at \(index)")
        }
        guard module.module.pointee.describe(.max) == nil else {
            throw Finding("it describes something at the index \(UInt32.max)")
        }
        return .passed
    },
    PluginCheck("PV18", .loading, "It answers an id that it does not describe with LARDER_NOT_FOUND") { site in
        let module = try RawModule(site.library)
        let own = module.ids.first ?? "org.example.x"
        let untouched = UnsafePointer<larder_instance>(bitPattern: 16)
        for id in ["", "x", "org.example.unknown", own + "x", own + "\u{0}", String(own.dropLast())] {
            site.now("the id \(shown(id))")
            var instance = untouched
            var status = LARDER_OK
            with([id]) { status = module.module.pointee.create($0[0], StubHost().table, &instance) }
            guard status == LARDER_NOT_FOUND else {
                throw Finding("create returns \(statusName(status)) for \(shown(id))")
            }
            guard instance == untouched else { throw Finding("create fails for \(shown(id)) and sets an instance") }
        }
        return .passed
    },
    PluginCheck("PV19", .loading, "It returns null for an extension that it does not know") { site in
        let module = try RawModule(site.library)
        for id in module.ids {
            guard let instance = module.create(id, StubHost()) else { continue }
            defer { instance.pointee.destroy(instance.pointee.context) }
            let known = LARDER_EXT_ITEM_POLICY_PROCESSOR
            for name in ["", "larder.unknown/1", "\(known)0", known + "\u{0}", String(known.dropLast())] {
                site.now("the extension \(shown(name))")
                guard instance.extension(name) == nil else {
                    throw Finding("extension returns a table for \(shown(name))")
                }
            }
        }
        return .passed
    },
    .each("PV20", .loading, "The services that it requires and wants exist") { site, plugin in
        let known = Set(HostServices.names)
        if let name = plugin.required.first(where: { !known.contains($0) }) {
            throw Finding("it requires the service \(name), which does not exist, so that no host starts it")
        }
        if let name = plugin.wanted.first(where: { !known.contains($0) }) {
            throw Finding("it wants the service \(name), which does not exist")
        }
        return .passed
    },
    .each("PV21", .loading, "The schema of its settings is valid, and so are its defaults") { site, plugin in
        guard try RawModule(site.library).schema(of: plugin.id.text) != nil else {
            return .skipped("it has no settings")
        }
        let stage = Stage(site)
        _ = stage.access.startAnyway(plugin.id)
        if let problem = stage.problem, problem.contains("schema") || problem.contains("setting") {
            throw Finding(problem)
        }
        return .passed
    },
]

/// Finds a reason of the host for which it does not use the library, or a plugin of it.
/// - Parameter beginnings: The beginnings of the reasons.
private func refusal(_ site: CheckSite, _ beginnings: String...) throws -> CheckOutcome {
    let stage = Stage(site)
    func check(_ problem: String?) throws {
        guard let problem, beginnings.contains(where: problem.hasPrefix) else { return }
        throw Finding(problem)
    }
    try check(stage.problem)
    if stage.problem != nil { throw Skipped(reason: "the library cannot be used") }
    for plugin in stage.access.plugins {
        let stage = Stage(site)
        _ = stage.access.startAnyway(plugin)
        try check(stage.problem.flatMap { $0.contains("schema") || $0.contains("setting") ? nil : $0 })
    }
    return .passed
}

extension UnsafePointer<larder_instance> {
    /// Returns the table of an extension.
    func `extension`(_ name: String) -> UnsafeRawPointer? {
        var table: UnsafeRawPointer?
        with([name]) { table = pointee.extension(pointee.context, $0[0]) }
        return table
    }
}

extension Duration {
    /// The duration in milliseconds, such as `52 ms`.
    var formattedMilliseconds: String { "\(Int(self / .milliseconds(1))) ms" }
}
