@_exported public import CLarder
import Synchronization

/// Where the entry function puts what the library holds.
public typealias ModulePointer = UnsafeMutablePointer<UnsafePointer<larder_module>?>

/// Hands the host what a library holds. A plugin's whole entry is:
///
///     @c @implementation
///     public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
///         export(Archive.self, to: module)
///     }
///
/// The compiler checks that function against the header.
/// - Parameters:
///   - processors: the library's plugins, the same ones in each call.
///   - loops: those of them that are event loops.
///   - module: what the host passed.
public func export(
    _ processors: any ItemPolicyProcessor.Type..., loops: any EventLoop.Type..., to module: ModulePointer
) -> larder_status {
    module.pointee = Library.module(holding: processors.map { .processor($0) } + loops.map { .loop($0) })
    return LARDER_OK
}

/// The same for a library that holds event loops alone.
public func export(_ loops: any EventLoop.Type..., to module: ModulePointer) -> larder_status {
    module.pointee = Library.module(holding: loops.map { .loop($0) })
    return LARDER_OK
}

/// What a plugin of a library does.
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

/// What this library holds. Every library that links the SDK has a copy of this of its own.
enum Library {
    /// Unchecked: its pointers are to memory that is never written again, nor freed.
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

    /// Made by the first call of the entry function.
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
