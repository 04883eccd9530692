import CLarder
import Glibc
import PluginHost

/// A library's module as the interface hands it out, without the host's own precautions.
final class RawModule {
    let module: UnsafePointer<larder_module>
    private let entry: larder_plugin_entry

    /// Opens a library and calls its entry function.
    /// - Throws: ``Skipped`` if that fails; another check says so.
    init(_ library: String) throws {
        entry = try Self.entry(of: library)
        var table: UnsafePointer<larder_module>?
        guard entry(UInt32(LARDER_ABI_MINOR), &table) == LARDER_OK, let table else {
            throw Skipped(reason: "the entry function does not hand out a module")
        }
        module = table
    }

    /// Opens a library and finds its entry function.
    static func entry(of library: String) throws -> larder_plugin_entry {
        // The loader would wait for whoever writes into a pipe.
        if LibraryFile.refusal(of: library) != nil { throw Skipped(reason: "it is no library for this machine") }
        guard let handle = dlopen(library, RTLD_NOW | RTLD_LOCAL | Int32(RTLD_NODELETE)) else {
            throw Skipped(reason: "the library cannot be opened")
        }
        guard let address = dlsym(handle, LARDER_ENTRY) else {
            throw Skipped(reason: "the library has no entry function")
        }
        return unsafeBitCast(address, to: larder_plugin_entry.self)
    }

    /// The ids of the plugins that it describes.
    var ids: [String] {
        (0..<256).map { module.pointee.describe($0) }.prefix { $0 != nil }.compactMap { $0?.pointee.id.text }
    }

    /// Creates an instance.
    /// - Returns: nil if that fails.
    func create(_ id: String, _ host: StubHost) -> UnsafePointer<larder_instance>? {
        var instance: UnsafePointer<larder_instance>?
        var status = LARDER_OK
        with([id]) { status = module.pointee.create($0[0], host.table, &instance) }
        return status == LARDER_OK ? instance : nil
    }

    /// The schema of a plugin's settings; nil if it has none.
    func schema(of id: String) throws -> String? {
        let host = StubHost()
        guard let instance = create(id, host) else { throw Skipped(reason: "no instance of \(id) can be created") }
        defer { instance.pointee.destroy(instance.pointee.context) }
        var text: String?
        with([LARDER_EXT_CONFIG_SCHEMA]) { texts in
            guard let table = instance.pointee.extension(instance.pointee.context, texts[0]) else { return }
            let schema = table.assumingMemoryBound(to: larder_config_schema.self)
            var given = larder_str(ptr: nil, len: 0)
            guard schema.pointee.schema(instance.pointee.context, &given) == LARDER_OK else { return }
            text = given.text
        }
        return text
    }
}

/// A host that grants no service and counts the calls of the plugin.
///
/// Its table is never freed, as a plugin may use it from a thread of its own.
final class StubHost {
    let table: UnsafeMutablePointer<larder_host>
    private let counts: UnsafeMutablePointer<Int>

    init() {
        counts = .allocate(capacity: 2)
        counts.initialize(repeating: 0, count: 2)
        table = .allocate(capacity: 1)
        table.initialize(
            to: larder_host(
                struct_size: UInt32(MemoryLayout<larder_host>.size), abi_minor: UInt32(LARDER_ABI_MINOR),
                context: counts,
                extension: { host, _ in
                    host.pointee.context?.assumingMemoryBound(to: Int.self)[0] += 1
                    return nil
                },
                fail: { host, _, _ in host.pointee.context?.assumingMemoryBound(to: Int.self)[1] += 1 }))
    }

    /// The number of times that the plugin asked for a service.
    var asked: Int { counts[0] }
}

extension larder_str {
    /// The text; nil if it is absent or not UTF-8.
    var text: String? {
        guard let ptr else { return nil }
        return String(validating: UnsafeRawBufferPointer(start: ptr, count: Int(len)), as: UTF8.self)
    }
}
