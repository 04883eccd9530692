import CLarder
import CLinux
import Glibc
import Model
import Synchronization

/// An opened library and the description of its plugins. It stays open until the process ends.
///
/// Unchecked: the properties do not change after `open`. The memory that they point to belongs to the library and
/// stays.
final class PluginLibrary: @unchecked Sendable {
    /// The description of a plugin by itself.
    struct Description: Hashable, Sendable {
        var id: PluginID
        var name: String
        var version: String
        /// Who made the plugin, and what it is for; empty if it does not say so.
        var vendor = ""
        var summary = ""
        /// The services without which the plugin does not start.
        var required: [String]
        /// The services that the plugin uses if they are available.
        var wanted: [String]

        /// Checks that the plugin gets the services that it requires.
        /// - Parameter withheld: The services that it does not get.
        /// - Throws: `.service` or `.withheld` if it lacks one.
        func checkServices(withheld: Set<String>) throws(Refusal) {
            if let unknown = required.first(where: { hostServices[$0] == nil }) { throw .service(unknown) }
            if let lacking = required.first(where: withheld.contains) { throw .withheld(lacking, from: id) }
        }
    }

    /// The largest number of plugins in a library. A library with more is assumed to describe plugins without end.
    private static let mostPlugins: UInt32 = 256

    /// The path where the library lies.
    let path: String
    /// The bytes that were opened.
    let image: LibraryImage
    let module: larder_module
    let plugins: [Description]
    private let openedMark = Mutex<String?>(nil)

    private init(image: LibraryImage, module: larder_module, plugins: [Description]) {
        path = image.source
        self.image = image
        self.module = module
        self.plugins = plugins
    }

    /// Returns the mark of the file that was opened, with the digest of its bytes if they are still known. Reads the
    /// bytes the first time. Blocks then.
    func markWithDigest() -> String {
        openedMark.withLock { known in
            if let known { return known }
            var mark = image.mark
            do throws(Refusal) {
                let digest = try LibraryMark.digest(of: image.path)
                // A library that was opened where it lies may have been written over since.
                if image.isCopy || LibraryMark.isOpened(mark, at: path) {
                    mark = LibraryMark.text(mark, digest: digest)
                }
            } catch {}
            known = mark
            return mark
        }
    }

    /// The version of the ABI for which the library was built.
    var abi: String { "\(LARDER_ABI_MAJOR).\(module.abi_minor)" }

    /// Opens a library, which runs the library's own code, and describes its plugins. Blocks.
    /// - Parameter path: The absolute path of the library.
    static func open(_ path: String) throws(Refusal) -> PluginLibrary { try open(LibraryImage(of: path)) }

    /// Opens the bytes of a library, as ``open(_:)`` does.
    static func open(_ image: LibraryImage) throws(Refusal) -> PluginLibrary {
        let path = image.path
        if let refusal = ELFHeader.refusal(of: path) { throw refusal }
        // All symbols are bound at once, so that a missing one is known now. They are bound for this library alone, so
        // that none replaces another library's. The library is never unmapped, because a language's runtime may still
        // point into it.
        let process = getpid()
        let opened = dlopen(path, RTLD_NOW | RTLD_LOCAL | Int32(RTLD_NODELETE))
        // A constructor of the library may have forked.
        if getpid() != process { linux_leave_opening(image.source) }
        guard let handle = opened else {
            let error = openingError(dlerror().map { String(cString: $0) } ?? "unknown error", path: path)
            image.discard()
            throw error
        }
        guard let address = dlsym(handle, LARDER_ENTRY) else {
            for major in [2, 3, 4, 5] where dlsym(handle, "larder_plugin_entry_v\(major)") != nil {
                throw .tooNew("it is built for version \(major), and this host speaks version 1")
            }
            if dlsym(handle, "larder_plugin_entry_v0") != nil {
                throw .tooOld("it is built for version 0, and this host speaks version 1")
            }
            throw .noEntry
        }
        return try describing(unsafeBitCast(address, to: larder_plugin_entry.self), image)
    }

    /// Takes a module and describes its plugins. Runs the module's own code.
    /// - Parameters:
    ///   - entry: The module's entry function.
    ///   - image: The bytes that contain the module.
    static func describing(_ entry: larder_plugin_entry, _ image: LibraryImage) throws(Refusal) -> PluginLibrary {
        var table: UnsafePointer<larder_module>?
        let status = entry(UInt32(LARDER_ABI_MINOR), &table)
        if status == LARDER_UNSUPPORTED {
            throw .tooNew("it cannot work with \(LARDER_ABI_MAJOR).\(LARDER_ABI_MINOR), which this host speaks")
        }
        guard status == LARDER_OK else { throw .entryFailed("its entry function returned \(statusName(status))") }
        let module = try larder_module.copy(table)
        return PluginLibrary(image: image, module: module, plugins: try describe(module))
    }

    /// Returns the description of a plugin of the library.
    /// - Throws: `.notConfigured` if the library does not describe it.
    func description(of id: PluginID) throws(Refusal) -> Description {
        guard let description = plugins.first(where: { $0.id == id }) else {
            throw .notConfigured(id, found: plugins.map(\.id))
        }
        return description
    }

    private static func openingError(_ text: String, path: String) -> Refusal {
        let own = text.hasPrefix("\(path): ") ? String(text.dropFirst(path.utf8.count + 2)) : text
        let mark = "undefined symbol: "
        return own.hasPrefix(mark) ? .unresolved(String(own.dropFirst(mark.utf8.count))) : .cannotOpen(own)
    }

    private static func describe(_ module: larder_module) throws(Refusal) -> [Description] {
        var plugins: [Description] = []
        for index in 0..<mostPlugins {
            guard let address = module.describe(index) else { return plugins }
            let descriptor = try larder_descriptor.copy(address)
            guard let id = descriptor.id.text, isValid(id: id) else {
                throw .badText("the id of plugin \(index) is not valid")
            }
            guard let name = descriptor.name.text, !name.isEmpty, let version = descriptor.version.text,
                !version.isEmpty
            else { throw .badText("\(id) has no name or no version") }
            let plugin = Description(
                id: PluginID(id), name: name, version: version, vendor: descriptor.vendor.text ?? "",
                summary: descriptor.summary.text ?? "", required: try services(descriptor.required, of: id),
                wanted: try services(descriptor.wanted, of: id))
            if plugins.contains(where: { $0.id == plugin.id }) { throw .duplicateInLibrary(plugin.id) }
            plugins.append(plugin)
        }
        throw .badText("it describes more than \(mostPlugins) plugins")
    }

    private static func services(_ list: larder_str, of id: String) throws(Refusal) -> [String] {
        if list.isAbsent { return [] }
        guard let text = list.text else { throw .badText("the services that \(id) asks for are not UTF-8") }
        return text.split(separator: " ").map(String.init)
    }

    /// Tells whether an id is a reversed domain of lower-case letters, digits, `-` and `.`, with a dot and at most 128
    /// bytes.
    private static func isValid(id: String) -> Bool {
        !id.isEmpty && id.utf8.count <= 128 && id.utf8.contains(UInt8(ascii: "."))
            && id.utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2d || byte == 0x2e
            }
    }
}
