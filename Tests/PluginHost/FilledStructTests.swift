import CLarder
import Testing

@testable import PluginHost

/// A struct as a later version may define it. The last member did not exist when the struct was published.
private struct Grown: SizedTable, Equatable {
    static let tableName = "grown struct"
    static let firstSize = 16
    static let functions: (offset: Int, names: [String]) = (0, [])

    var structSize: UInt32 = 0
    var reserved: UInt32 = 0
    var first: UInt64 = 0
    var appended: UInt64 = 0
}

private struct Element: Equatable {
    var first: UInt64 = 0
    var appended: UInt64 = 0
}

@Suite struct FilledStructTests {
    /// Fills a plugin's struct that declares a size of `given` bytes. 64 bytes follow the part that the host knows.
    private func fill(given: UInt32, with value: Grown) throws -> [UInt8] {
        let size = MemoryLayout<Grown>.size + 64
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 8)
        defer { bytes.deallocate() }
        bytes.initializeMemory(as: UInt8.self, repeating: 0xA5, count: size)
        bytes.storeBytes(of: given, as: UInt32.self)
        try FilledStruct(bytes.assumingMemoryBound(to: Grown.self)).fill(with: value)
        return Array(UnsafeRawBufferPointer(start: bytes, count: size))
    }

    private let value = Grown(structSize: 24, first: 7, appended: 9)

    @Test("G16: a struct of an older plugin is filled to its end and no further, and says so")
    func older() throws {
        let bytes = try fill(given: 16, with: value)
        #expect(bytes[0..<4] == [16, 0, 0, 0])
        #expect(bytes[8] == 7)
        #expect(bytes[16...].allSatisfy { $0 == 0xA5 })
    }

    @Test("G16: a struct of a newer plugin is filled as far as the host knows it, and says so")
    func newer() throws {
        let bytes = try fill(given: 88, with: value)
        #expect(bytes[0..<4] == [24, 0, 0, 0])
        #expect(bytes[16] == 9)
        #expect(bytes[24...].allSatisfy { $0 == 0xA5 })
    }

    @Test(
        "G16: a size that was never the struct's is refused, and nothing is written",
        arguments: [0, 1, 15] as [UInt32])
    func unset(given: UInt32) {
        let error = #expect(throws: ServiceError.self) { _ = try fill(given: given, with: value) }
        #expect(error?.status == LARDER_INVALID_ARGUMENT)
    }

    @Test("G16: an array is stepped by the plugin's stride; what its elements do not have is zero")
    func strides() throws {
        let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 6)
        defer { words.deallocate() }
        for index in 0..<6 { words[index] = UInt64(index + 1) }
        let zero = Element()
        let older = try StridedArray(words, stride: 8, firstSize: 8, zero: zero, named: "the words")
        #expect(older[1] == Element(first: 2, appended: 0))
        let newer = try StridedArray(words, stride: 24, firstSize: 8, zero: zero, named: "the words")
        #expect(newer[1] == Element(first: 4, appended: 5))
        #expect(throws: ServiceError.self) {
            _ = try StridedArray(words, stride: 7, firstSize: 8, zero: zero, named: "the words")
        }
    }
}
