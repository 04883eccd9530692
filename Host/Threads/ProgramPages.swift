import CLinux
import Glibc

/// The pages of the program and its libraries that are in memory, most of which a start alone needs.
///
/// A host that rests gives them back. The kernel keeps what it has read of the files as long as it has room, so that a
/// page that is needed again is mapped again without the disk.
enum ProgramPages {
    /// Gives the pages back. Blocks.
    static func giveBack() {
        guard let table = contents(of: "/proc/self/smaps") else { return }
        // The ranges may be others by now: a library that is being opened has one range at first, all of it read-only.
        let ends = unchanged(in: table).flatMap { [$0.lowerBound, $0.upperBound] }
        linux_give_back_segments(ends, ends.count / 2)
    }

    /// Returns the address ranges that hold nothing but what is in their files: they cannot be written, and no page of
    /// theirs was ever changed. The loader has changed pages before it made them read-only, and a debugger changes code.
    /// - Parameter table: The mappings of a process as `/proc/PID/smaps` tells them (proc(5)).
    static func unchanged(in table: some StringProtocol) -> [Range<UInt>] {
        var ranges: [Range<UInt>] = []
        var current: Range<UInt>?
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 5)
            guard let first = words.first else { continue }
            if first.last != ":" {
                current = mapping(words)
            } else if first == "Anonymous:", words.dropFirst().first == "0", let range = current {
                ranges.append(range)
            }
        }
        return ranges
    }

    /// Returns the range of a mapping of a file that is private and cannot be written; nil of any other.
    private static func mapping(_ words: [some StringProtocol]) -> Range<UInt>? {
        guard words.count > 5, words[1].hasPrefix("r"), words[1].hasSuffix("p"), !words[1].contains("w"),
            words[4] != "0"
        else { return nil }
        let ends = words[0].split(separator: "-").map { UInt($0, radix: 16) }
        guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else { return nil }
        return start..<end
    }

    private static func contents(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0 { return nil }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += piece[..<count]
        }
    }
}
