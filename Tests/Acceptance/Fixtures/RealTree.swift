import Glibc
import TestSupport

/// A tree of real files, copied without links from those of a Debian system.
enum RealTree {
    /// Makes the tree in a folder that does not exist yet. The tree has at least `count` files. It includes odd names,
    /// empty files, and empty and deep folders.
    static func make(in folder: String, count: Int = 10_000) throws {
        var copied = try oddities(in: "\(folder)/odd")
        for (source, share) in [("/usr/share/doc", 0.4), ("/usr/include", 0.8), ("/usr/share", 1.0)] {
            let name = source.split(separator: "/").joined(separator: "-")
            copied = try copy(source, to: "\(folder)/\(name)", copied: copied, until: Int(Double(count) * share))
            if copied >= count { break }
        }
        guard copied >= count else { throw SetupError("this system has only \(copied) files below /usr/share") }
    }

    /// Copies the regular files below a folder in the order of their names. Large files are left out, because only the
    /// number of files matters.
    private static func copy(_ source: String, to target: String, copied: Int, until count: Int) throws -> Int {
        var copied = copied
        for path in try Files.filesBelow(source) where copied < count {
            var info = stat()
            guard lstat("\(source)/\(path)", &info) == 0, info.st_size < 256 << 10 else { continue }
            let new = "\(target)/\(path)"
            try Files.write(try Files.read("\(source)/\(path)"), to: new)
            let time = timeval(tv_sec: info.st_mtim.tv_sec, tv_usec: 0)
            guard utimes(new, [time, time]) == 0 else { throw SetupError("cannot set the time of \(new)") }
            copied += 1
        }
        return copied
    }

    private static func oddities(in folder: String) throws -> Int {
        let names = HardNames.files + ["empty", ".hidden", "trailing."]
        // The files get an old time, because a file that is listed within a second of its change is correctly fetched
        // once more.
        func write(_ text: String, _ name: String) throws {
            let (path, time) = ("\(folder)/\(name)", timeval(tv_sec: 1_700_000_000, tv_usec: 0))
            try Files.write(text, to: path)
            guard utimes(path, [time, time]) == 0 else { throw SetupError("cannot set the time of \(path)") }
        }
        for name in names { try write(name == "empty" ? "" : name, name) }
        let deep = (0..<40).map { "level \($0)" }.joined(separator: "/")
        try write("deep", "\(deep)/end")
        try Files.makeFolder("\(folder)/empty folder/another")
        return names.count + 1
    }
}

/// Names that programs often handle wrongly.
enum HardNames {
    static let files = [
        "two  blanks.txt", " leading", "percent%41", "100%", "under_score", "hash#1", "question?", "semi;colon",
        "plus+sign", "quote'single", "quote\"double", "new\nline", "emoji \u{1F30D}", "caf\u{e9}", "cafe\u{301}",
        "back\\slash", "tab\t", "amp&<>", String(repeating: "n", count: 255), String(repeating: "\u{e9}", count: 127),
        "~tilde", "-dash", "*", "a=b,c:d@e$f!", "UPPER", "upper",
    ]
}
