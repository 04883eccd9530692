@_exported public import CLarder
import Synchronization

/// The address to which the entry function writes the pointer to the library's module. See ``export(_:loops:to:)``.
public typealias ModulePointer = UnsafeMutablePointer<UnsafePointer<larder_module>?>

/// Hands the host the plugins of a library. This is the whole entry function of a plugin:
///
/// ```swift
/// @c @implementation
/// public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
///     export(Favorites.self, to: module)
/// }
/// ```
///
/// The compiler checks that function against the C header.
/// - Parameters:
///   - processors: The library's item-policy processors. Pass the same ones in each call.
///   - loops: The library's event loops. Pass the same ones in each call.
///   - module: The argument of the entry function.
/// - Returns: `LARDER_OK`.
public func export(
    _ processors: any ItemPolicyProcessor.Type..., loops: any EventLoop.Type..., to module: ModulePointer
) -> larder_status {
    module.pointee = Library.module(holding: processors.map { .processor($0) } + loops.map { .loop($0) })
    return LARDER_OK
}

/// Hands the host the plugins of a library that holds only event loops. See ``export(_:loops:to:)``.
public func export(_ loops: any EventLoop.Type..., to module: ModulePointer) -> larder_status {
    module.pointee = Library.module(holding: loops.map { .loop($0) })
    return LARDER_OK
}

/// The type of one of the library's plugins.
enum PluginType {
    case processor(any ItemPolicyProcessor.Type)
    case loop(any EventLoop.Type)

    var description: PluginDescription {
        switch self {
        case .processor(let type): type.description
        case .loop(let type): type.description
        }
    }

    var settingsSchema: String? {
        switch self {
        case .processor(let type): type.settingsSchema
        case .loop(let type): type.settingsSchema
        }
    }
}

/// The plugins of this library. Each library that links the SDK has its own copy of this type.
enum Library {
    /// The module and its plugins. Sendable is unchecked: the pointers are to memory that is neither written again nor
    /// freed.
    private struct Contents: @unchecked Sendable {
        let descriptors: [UnsafePointer<larder_descriptor>]
        let types: [PluginType]
        let module: UnsafePointer<larder_module>

        init(_ types: [PluginType]) {
            self.types = types
            descriptors = types.map { $0.description.descriptor() }
            let module = UnsafeMutablePointer<larder_module>.allocate(capacity: 1)
            module.initialize(
                to: larder_module(
                    struct_size: UInt32(MemoryLayout<larder_module>.size), abi_minor: UInt32(LARDER_ABI_MINOR),
                    describe: { Library.describe($0) }, create: { Library.create($0, $1, $2) }))
            self.module = UnsafePointer(module)
        }
    }

    /// The contents, which the first call of the entry function makes.
    private static let contents = Mutex<Contents?>(nil)

    static func module(holding types: [PluginType]) -> UnsafePointer<larder_module> {
        let made = contents.withLock { contents in
            let made = contents ?? Contents(types)
            contents = made
            return made
        }
        return made.module
    }

    private static func describe(_ index: UInt32) -> UnsafePointer<larder_descriptor>? {
        guard let contents = contents.withLock({ $0 }), index < contents.descriptors.count else { return nil }
        return contents.descriptors[Int(index)]
    }

    private static func create(
        _ id: larder_str, _ host: UnsafePointer<larder_host>,
        _ out: UnsafeMutablePointer<UnsafePointer<larder_instance>?>
    ) -> larder_status {
        guard let contents = contents.withLock({ $0 }),
            let index = contents.descriptors.firstIndex(where: { Text(unsafe: $0.pointee.id) == Text(unsafe: id) })
        else { return LARDER_NOT_FOUND }
        out.pointee = Instance.make(of: contents.types[index], host: Host(host))
        return LARDER_OK
    }
}
