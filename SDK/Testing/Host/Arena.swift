import CLarder
import Glibc

/// Memory for texts and structs that the test or the plugin reads. It is freed all at once.
final class Arena {
    private let lending: Lending
    private var blocks: [UnsafeMutableRawPointer] = []
    private var pages: [LentPages] = []

    init(_ lending: Lending = []) { self.lending = lending }

    deinit { free() }

    /// Frees everything.
    func free() {
        for block in blocks { Glibc.free(block) }
        blocks.removeAll()
        for page in pages { page.free(isRevoked: lending.contains(.revoked)) }
        pages.removeAll()
    }

    /// Keeps the plugin from writing into the memory, if it is lent so.
    func seal() {
        guard lending.contains(.readOnly) else { return }
        for page in pages { page.protect(PROT_READ) }
    }

    /// Returns a copy of bytes, with a zero behind them unless they are lent without.
    func bytes(_ bytes: some Collection<UInt8>) -> UnsafeMutablePointer<UInt8> {
        guard lending.isEmpty else {
            let place = block(bytes.count).bindMemory(to: UInt8.self, capacity: max(1, bytes.count))
            copy(bytes, to: place)
            return place
        }
        let block = block(bytes.count + 1).bindMemory(to: UInt8.self, capacity: bytes.count + 1)
        copy(bytes, to: block)
        block[bytes.count] = 0
        return block
    }

    private func copy(_ bytes: some Collection<UInt8>, to place: UnsafeMutablePointer<UInt8>) {
        _ = UnsafeMutableBufferPointer(start: place, count: bytes.count).initialize(from: bytes)
    }

    func cString(_ text: String) -> UnsafePointer<CChar> {
        UnsafeRawPointer(bytes(text.utf8)).assumingMemoryBound(to: CChar.self)
    }

    func text(_ text: String?) -> larder_str {
        guard let text else { return larder_str(ptr: nil, len: 0) }
        return larder_str(ptr: cString(text), len: UInt64(text.utf8.count))
    }

    func view(_ bytes: [UInt8]?) -> larder_bytes {
        guard let bytes else { return larder_bytes(ptr: nil, len: 0) }
        return larder_bytes(ptr: self.bytes(bytes), len: UInt64(bytes.count))
    }

    func copy<Value>(_ value: Value) -> UnsafePointer<Value> {
        let place = block(MemoryLayout<Value>.size).bindMemory(to: Value.self, capacity: 1)
        place.initialize(to: value)
        return UnsafePointer(place)
    }

    func list(_ texts: [String]) -> UnsafePointer<larder_str>? {
        guard !texts.isEmpty else { return nil }
        let list = block(MemoryLayout<larder_str>.stride * texts.count)
            .bindMemory(to: larder_str.self, capacity: texts.count)
        for (index, text) in texts.enumerated() { (list + index).initialize(to: self.text(text)) }
        return UnsafePointer(list)
    }

    /// Returns memory for a struct that is lent.
    func block(_ size: Int) -> UnsafeMutableRawPointer {
        guard lending.isEmpty else {
            let page = LentPages(size)
            pages.append(page)
            return page.start
        }
        guard let block = malloc(max(1, size)) else { fatalError("no memory") }
        blocks.append(block)
        return block
    }
}

/// Returns a copy of a struct of the test, which may have been built with headers of another version. Members beyond
/// the size that the struct gives are zero.
func sized<Value>(_ address: UnsafePointer<Value>, _ zero: Value) -> Value {
    var copy = zero
    let given = Int(UnsafeRawPointer(address).loadUnaligned(as: UInt32.self))
    withUnsafeMutableBytes(of: &copy) { bytes in
        bytes.copyMemory(from: UnsafeRawBufferPointer(start: address, count: min(given, bytes.count)))
    }
    return copy
}

extension larder_str {
    /// The text; nil if it is absent. Bytes that are not UTF-8 are replaced.
    var string: String? {
        ptr.map { String(decoding: UnsafeRawBufferPointer(start: $0, count: Int(len)), as: UTF8.self) }
    }
}

extension larder_bytes {
    /// A copy of the bytes; nil if they are absent.
    var array: [UInt8]? { ptr.map { Array(UnsafeBufferPointer(start: $0, count: Int(len))) } }
}
