/// The format of the file with a project's step ids.
enum StepIDList {
    /// Returns the number of complete ids in a file of a size. An incomplete id at the end is ignored.
    static func count(size: Int) -> Int { size / StepID.byteCount }

    static func decoded(_ bytes: [UInt8]) -> [StepID] {
        bytes.withUnsafeBytes { bytes in
            (0..<count(size: bytes.count)).map {
                StepID(
                    bytes: UnsafeRawBufferPointer(rebasing: bytes[$0 * StepID.byteCount..<($0 + 1) * StepID.byteCount]))
            }
        }
    }

    static func encoded(_ ids: [StepID]) -> [UInt8] {
        let size = ids.count * StepID.byteCount
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            for (index, id) in ids.enumerated() {
                id.store(to: UnsafeMutableRawBufferPointer(bytes), at: index * StepID.byteCount)
            }
            count = size
        }
    }
}
