import DemoServer
import Glibc

/// The sample files of the demo.
enum DemoTree {
    static let photos = "/Photos"
    static let changed = "/Photos/2026/harbour.jpg"
    static let moved = (from: "/Photos/2025/snow.jpg", to: "/Photos/2026/first snow.jpg")
    static let added = "/Photos/2026/Trip/ferry.jpg"

    static func letter(_ number: Int) -> String { "/Documents/letter \(number).txt" }

    static func fill(_ tree: Tree) {
        let year: Int64 = 31_556_952
        let now = Int64(time(nil))
        for (index, name) in ["beach", "garden", "snow", "market"].enumerated() {
            tree.put("/Photos/2025/\(name).jpg", picture(seed: UInt64(index), size: 60_000), modified: now - year)
        }
        for (index, name) in ["harbour", "mountains", "café"].enumerated() {
            tree.put(
                "/Photos/2026/\(name).jpg", picture(seed: UInt64(10 + index), size: 80_000), modified: now - year / 4)
        }
        tree.makeFolder("/Photos/2026/Trip")
        for month in 1...12 {
            tree.put(letter(month), "Letter \(month)\n", modified: now - year / 12)
        }
        tree.put("/Films/holiday.mkv", picture(seed: 50, size: 3_000_000))
    }

    static func isFile(_ path: String) -> Bool {
        ["/Photos/", "/Documents/", "/Films/"].contains(where: path.hasPrefix)
    }

    /// Returns bytes that look like those of a compressed picture. The same seed gives the same bytes.
    static func picture(seed: UInt64, size: Int) -> [UInt8] {
        var state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1
        return (0..<size).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return UInt8(truncatingIfNeeded: state >> 32)
        }
    }
}
