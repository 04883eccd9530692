import CLarder

/// A struct of a plugin's own that one of the host's functions fills.
///
/// A plugin that was built with older headers has less room than the host would write, one that was built with newer headers has
/// more. The host writes as much as both know (rule I of `base.h`). All structs that a plugin hands over to be filled go through
/// here.
struct FilledStruct<Table: SizedTable> {
    private let address: UnsafeMutableRawPointer
    /// How many bytes of it both sides know.
    private let size: Int

    /// - Throws: `LARDER_INVALID_ARGUMENT` if the plugin did not set `struct_size`, or set it to less than the struct had when it
    ///   was published.
    init(_ out: UnsafeMutablePointer<Table>) throws(ServiceError) {
        address = UnsafeMutableRawPointer(out)
        let given = Int(address.loadUnaligned(as: UInt32.self))
        guard given >= Table.firstSize else {
            throw ServiceError(
                LARDER_INVALID_ARGUMENT,
                "struct_size of the \(Table.tableName) to fill is \(given), less than \(Table.firstSize): set it before the call"
            )
        }
        size = min(given, MemoryLayout<Table>.size)
    }

    /// Writes what the plugin has room for. `struct_size` then tells how much of the struct was filled.
    func fill(with value: Table) {
        withUnsafeBytes(of: value) { bytes in
            guard let first = bytes.baseAddress else { return }
            address.copyMemory(from: first, byteCount: size)
        }
        address.storeBytes(of: UInt32(size), as: UInt32.self)
    }
}

/// An array of structs without `struct_size` that a plugin hands over.
struct StridedArray<Element> {
    private let first: UnsafeRawPointer
    private let stride: Int

    private let zero: Element

    /// - Parameters:
    ///   - stride: In bytes, from one element to the next, as the plugin's headers have it.
    ///   - firstSize: The element's size when it was published, in bytes.
    ///   - zero: What a member holds that the plugin's headers do not have.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the stride is less than `firstSize`.
    init(
        _ first: UnsafeRawPointer, stride: UInt32, firstSize: Int, zero: Element, named name: StaticString
    ) throws(ServiceError) {
        guard Int(stride) >= firstSize else {
            throw ServiceError(LARDER_INVALID_ARGUMENT, "the stride of \(name) is \(stride), less than \(firstSize)")
        }
        self.first = first
        self.stride = Int(stride)
        self.zero = zero
    }

    subscript(index: Int) -> Element {
        var element = zero
        withUnsafeMutableBytes(of: &element) { bytes in
            bytes.copyMemory(
                from: UnsafeRawBufferPointer(start: first + index * stride, count: min(stride, bytes.count)))
        }
        return element
    }
}
