import CLarder

/// A struct of a plugin that one of the host's functions fills.
///
/// A plugin that was built with older headers has less room than the host would write. A plugin that was built with
/// newer headers has more. The host writes as much as both sides know (rule I of `base.h`). Every struct that a plugin
/// passes to be filled goes through this type.
struct FilledStruct<Table: SizedTable> {
    private let address: UnsafeMutableRawPointer
    /// The number of bytes of the struct that both sides know.
    private let size: Int

    /// Checks the struct to fill.
    /// - Throws: `LARDER_INVALID_ARGUMENT` if the plugin did not set `struct_size`, or set it to less than the struct's
    ///   size when it was published.
    init(_ out: UnsafeMutablePointer<Table>) throws(ServiceError) {
        address = UnsafeMutableRawPointer(out)
        let given = Int(address.loadUnaligned(as: UInt32.self))
        guard given >= Table.firstSize else {
            throw ServiceError(
                LARDER_INVALID_ARGUMENT,
                "struct_size of the \(Table.tableName) to fill is \(given), less than \(Table.firstSize): "
                    + "set it before the call"
            )
        }
        size = min(given, MemoryLayout<Table>.size)
    }

    /// Writes as many bytes as the plugin has room for, and sets `struct_size` to this number.
    func fill(with value: Table) {
        withUnsafeBytes(of: value) { bytes in
            guard let first = bytes.baseAddress else { return }
            address.copyMemory(from: first, byteCount: size)
        }
        address.storeBytes(of: UInt32(size), as: UInt32.self)
    }
}

/// An array that a plugin passes, of structs without `struct_size`.
struct StridedArray<Element> {
    private let first: UnsafeRawPointer
    private let stride: Int

    private let zero: Element

    /// Creates an array.
    /// - Parameters:
    ///   - first: The address of the first element.
    ///   - stride: The bytes from one element to the next, as in the plugin's headers.
    ///   - firstSize: The element's size when it was published, in bytes.
    ///   - zero: An element with the values of the members that the plugin's headers do not have.
    ///   - name: The name of the array in errors.
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
