import CLarder
import FakeHost
import Glibc
import LarderFakeHost
import Model
import Synchronization

/// A module of this program with one plugin, which has the services of another plugin and does nothing. What the host
/// keeps for an instance is the same for both.
enum BlankModule {
    private struct State: @unchecked Sendable {
        var descriptor: UnsafePointer<larder_descriptor>?
        var schema: UnsafeMutablePointer<CChar>?
    }

    private static let state = Mutex(State())

    /// Returns the bytes that are left after a number of starts and stops of a plugin that does nothing.
    /// - Parameter plugin: The plugin whose id, services and settings it has.
    static func growth(like plugin: PluginCase, rounds: Int, in site: CheckSite) throws -> Int {
        let schema = try RawModule(site.library).schema(of: plugin.id.text)
        let descriptor = makeDescriptor(plugin)
        state.withLock { $0 = State(descriptor: descriptor, schema: schema.flatMap { strdup($0) }) }
        let fake = larder_fake_for(entry)
        defer { larder_fake_free(fake) }
        func start(times: Int) throws {
            for _ in 0..<times {
                guard larder_fake_start(fake, plugin.id.text) == LARDER_OK else {
                    throw Skipped(reason: "the host's own memory cannot be measured")
                }
                larder_fake_stop(fake)
                larder_fake_forget(fake)
            }
        }
        try start(times: 20)
        return try ProcessState.growth(small: .max) { try start(times: rounds) }
    }

    private static let entry: larder_plugin_entry = { _, out in
        out.pointee = module
        return LARDER_OK
    }

    nonisolated(unsafe) private static let module: UnsafePointer<larder_module> = {
        let module = UnsafeMutablePointer<larder_module>.allocate(capacity: 1)
        module.initialize(
            to: larder_module(
                struct_size: UInt32(MemoryLayout<larder_module>.size), abi_minor: UInt32(LARDER_ABI_MINOR),
                describe: { index in index == 0 ? state.withLock(\.descriptor) : nil },
                create: { _, _, out in
                    out.pointee = instance
                    return LARDER_OK
                }))
        return UnsafePointer(module)
    }()

    /// Makes the descriptor of a plugin that is like another one. It is never freed.
    private static func makeDescriptor(_ like: PluginCase) -> UnsafePointer<larder_descriptor> {
        let descriptor = UnsafeMutablePointer<larder_descriptor>.allocate(capacity: 1)
        var value = larder_descriptor()
        value.struct_size = UInt32(MemoryLayout<larder_descriptor>.size)
        (value.id, value.name, value.version) = (text(like.id.text), text("Blank"), text("1.0"))
        value.required = text(like.required.joined(separator: " "))
        value.wanted = text(like.wanted.joined(separator: " "))
        descriptor.initialize(to: value)
        return UnsafePointer(descriptor)
    }

    nonisolated(unsafe) private static let instance: UnsafePointer<larder_instance> = {
        let instance = UnsafeMutablePointer<larder_instance>.allocate(capacity: 1)
        instance.initialize(
            to: larder_instance(
                struct_size: UInt32(MemoryLayout<larder_instance>.size), reserved: 0, context: nil,
                start: { _ in LARDER_OK }, stop: { _ in }, destroy: { _ in },
                extension: { _, name in
                    name.text == LARDER_EXT_CONFIG_SCHEMA && state.withLock { $0.schema != nil }
                        ? UnsafeRawPointer(settings) : nil
                }))
        return UnsafePointer(instance)
    }()

    nonisolated(unsafe) private static let settings: UnsafePointer<larder_config_schema> = {
        let settings = UnsafeMutablePointer<larder_config_schema>.allocate(capacity: 1)
        settings.initialize(
            to: larder_config_schema(
                struct_size: UInt32(MemoryLayout<larder_config_schema>.size), reserved: 0,
                schema: { _, out in
                    out.pointee = text(state.withLock(\.schema))
                    return LARDER_OK
                }))
        return UnsafePointer(settings)
    }()

    private static func text(_ text: String) -> larder_str { self.text(strdup(text)) }

    private static func text(_ text: UnsafeMutablePointer<CChar>?) -> larder_str {
        guard let text, text.pointee != 0 else { return larder_str(ptr: nil, len: 0) }
        return larder_str(ptr: text, len: UInt64(strlen(text)))
    }
}
