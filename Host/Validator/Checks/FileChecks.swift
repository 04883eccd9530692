import CLarder
import FakeHost
import Glibc
import Model
import PluginHost

/// The file, without running any of its code.
let fileChecks: [PluginCheck] = [
    PluginCheck("PV01", .file, "It is a shared library for this machine") { site in
        if let reason = LibraryFile.refusal(of: site.library) { throw Finding(reason) }
        return .passed
    },
    PluginCheck("PV02", .file, "It exports its entry function, and nothing else") { site in
        let exported = try file(site).symbols.filter { $0.isDefined && $0.isVisible }.map(\.name)
        guard exported.contains(LARDER_ENTRY) else {
            throw Finding("it does not export \(LARDER_ENTRY)")
        }
        let others = exported.filter { $0 != LARDER_ENTRY && !$0.hasPrefix("_cgo_") }
        if let first = others.first {
            throw Finding(
                "it exports \(first)\(others.count > 1 ? " and \(others.count - 1) more symbols" : ""), which may meet those "
                    + "of another plugin",
                advice: "Link it with --version-script=plugin.map, or hide all symbols but the entry function")
        }
        return .passed
    },
    PluginCheck("PV09", .file, "It exports no symbols of cgo", warns: true) { site in
        if let first = try file(site).symbols.first(where: {
            $0.isDefined && $0.isVisible && $0.name.hasPrefix("_cgo_")
        }) {
            throw Finding("it exports \(first.name), as libraries that cgo makes do")
        }
        return .passed
    },
    PluginCheck("PV03", .file, "It names the libraries that have its symbols") { site in
        let elf = try file(site)
        let undefined = elf.symbols.filter { !$0.isDefined && $0.isVisible }
        guard elf.needed.isEmpty,
            let first = undefined.first(where: {
                !$0.name.hasPrefix("_ITM_") && $0.name != "__gmon_start__" && $0.name != "__cxa_finalize"
            })
        else { return .passed }
        throw Finding(
            "it uses \(first.name) and names no library that has it",
            advice: "Link it by the compiler, and not with -nostdlib")
    },
    PluginCheck("PV04", .file, "It needs no C or C++ library that is newer than that of Debian 12") { site in
        let most = ["GLIBC": [2, 36], "GLIBCXX": [3, 4, 30], "CXXABI": [1, 3, 13], "GCC": [12, 0, 0]]
        for (library, version) in try file(site).neededVersions {
            guard let line = version.lastIndex(of: "_") else { continue }
            let numbers = version[line...].dropFirst().split(separator: ".").compactMap { Int($0) }
            guard let limit = most[String(version[..<line])], limit.lexicographicallyPrecedes(numbers) else { continue }
            throw Finding(
                "it needs \(version) of \(library), which machines with Debian 12 do not have",
                advice: "Build it on the oldest system that is to run it")
        }
        return .passed
    },
    PluginCheck("PV05", .file, "It has no search path of its own, no text relocations and no executable stack") {
        site in
        let elf = try file(site)
        // A library in Swift finds the runtime's libraries there, of which the host need not have all.
        let hasRuntime = elf.needed.contains("libswiftCore.so")
        if let folder = elf.searched.first(where: { folder in
            !(hasRuntime && folder.hasSuffix("/swift/linux"))
                && !["$ORIGIN", "${ORIGIN}"].contains { folder == $0 || folder.hasPrefix($0 + "/") }
        }) {
            throw Finding(
                "it has the loader search \(folder), which another machine need not have",
                advice: "Link it without -rpath, or with one that begins with $ORIGIN")
        }
        if !elf.values(22).isEmpty || elf.values(30).contains(where: { $0 & 4 != 0 }) {
            throw Finding("it has text relocations", advice: "Compile all of it with -fPIC")
        }
        if elf.segments.contains(where: { $0.type == 0x6474_e551 && $0.flags & 1 != 0 }) {
            throw Finding("it makes the stack executable", advice: "Link it with -z noexecstack")
        }
        return .passed
    },
    PluginCheck("PV06", .file, "It has no static thread-local storage") { site in
        if try file(site).values(30).contains(where: { $0 & 16 != 0 }) {
            throw Finding(
                "it has static thread-local storage, for which a running host may have no room",
                advice: "Compile it with -ftls-model=global-dynamic")
        }
        return .passed
    },
    PluginCheck("PV07", .file, "Nobody but you and root can change it, or a folder on its way") { site in
        if let reason = LibraryFile.danger(of: site.library) { throw Finding(reason) }
        return .passed
    },
    PluginCheck("PV08", .file, "A Swift plugin has a module of its own and does without Foundation", warns: true) {
        site in
        let elf = try file(site)
        guard elf.needed.contains(where: { $0.hasPrefix("libswift") }) else {
            return .skipped("it is not linked with Swift's library")
        }
        if let first = elf.needed.first(where: { $0.contains("Foundation") }) {
            throw Finding(
                "it needs \(first), which takes some MB of memory in every host",
                advice: "Do without Foundation: the SDK has JSON, times and texts")
        }
        // The SDK is in each plugin, and types of C are in modules of the compiler's, whose names begin so.
        let shared = elf.swiftModules.intersection(ELFFile("/proc/self/exe")?.swiftModules ?? [])
        if let name = shared.filter({ $0 != "LarderSDK" && !$0.hasPrefix("__") }).min() {
            throw Finding(
                "its module \(name) has the name of a module of the host, and their types may be taken for each other",
                advice: "Compile it with a module name of its own, such as that of the plugin")
        }
        return .passed
    },
]

private func file(_ site: CheckSite) throws -> ELFFile {
    guard LibraryFile.refusal(of: site.library) == nil, let file = ELFFile(site.library) else {
        throw Skipped(reason: "it is no library that can be read")
    }
    return file
}
