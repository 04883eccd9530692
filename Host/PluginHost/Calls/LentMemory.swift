import CLarder

/// Memory that a plugin may read until it is freed. Used on the plugin's thread.
final class LentMemory {
    private var blocks: [UnsafeMutableRawPointer] = []

    func lend(bytes count: Int) -> UnsafeMutableRawPointer {
        let address = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 16)
        blocks.append(address)
        return address
    }

    func lend(_ text: String) -> larder_str {
        var text = text
        return text.withUTF8 { utf8 in
            let address = lend(bytes: utf8.count)
            address.copyMemory(
                from: utf8.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(address), byteCount: utf8.count)
            return larder_str(ptr: address.assumingMemoryBound(to: CChar.self), len: UInt64(utf8.count))
        }
    }

    func lend(_ bytes: [UInt8]) -> larder_bytes {
        let address = lend(bytes: bytes.count)
        bytes.withUnsafeBytes {
            address.copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(address), byteCount: $0.count)
        }
        return larder_bytes(ptr: UnsafePointer(address.assumingMemoryBound(to: UInt8.self)), len: UInt64(bytes.count))
    }

    func free() {
        for block in blocks { block.deallocate() }
        blocks.removeAll(keepingCapacity: true)
    }

    /// Frees all memory, before the end of the instance. Nothing is lent after it.
    func end() {
        free()
        blocks = []
    }
}
