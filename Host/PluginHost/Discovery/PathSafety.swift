import Glibc

/// A check that only root and this user can change the code of a library that is opened.
///
/// The check covers everything on the way from the root directory, including links and their targets. Each file and
/// folder must be owned by root or this user and be writable by nobody else. A link must be owned by root or this user.
/// A folder with the sticky bit (`/tmp`) may be on the way, because others cannot replace files in it that are not
/// theirs. It may not be the library's own folder, because others could add a library there that this library loads.
enum PathSafety {
    /// Checks the path of a library.
    /// - Parameter file: The absolute path of the library.
    /// - Returns: The reason why the library is not used; nil if its path is safe.
    static func refusal(of file: String) -> Refusal? {
        var ahead = components(of: file)
        var walked = ""
        var links = 0
        var folder: (path: String, isSticky: Bool) = ("/", false)
        if let refusal = check("/", info: nil).refusal { return refusal }
        while !ahead.isEmpty {
            let name = ahead.removeFirst()
            if name == "." { continue }
            if name == ".." {
                walked = walked.lastIndex(of: "/").map { String(walked[..<$0]) } ?? ""
                let (refusal, isSticky) = check(walked.isEmpty ? "/" : walked, info: nil)
                if let refusal { return refusal }
                folder = (walked, isSticky)
                continue
            }
            let path = "\(walked)/\(name)"
            var info = stat()
            guard lstat(path, &info) == 0 else { return .unreadable(errno) }
            if info.st_mode & S_IFMT == S_IFLNK {
                links += 1
                guard links <= 40, let target = target(of: path) else { return .unreadable(ELOOP) }
                if !isOwn(info) { return .unsafe("\(path) is a link that belongs to another user") }
                if target.hasPrefix("/") { walked = "" }
                ahead = components(of: target) + ahead
                continue
            }
            let (refusal, isSticky) = check(path, info: info)
            if let refusal { return refusal }
            if info.st_mode & S_IFMT == S_IFDIR { folder = (path, isSticky) }
            walked = path
        }
        if folder.isSticky { return .unsafe("its folder \(folder.path) is writable by others") }
        return nil
    }

    private static func check(_ path: String, info given: stat?) -> (refusal: Refusal?, isSticky: Bool) {
        var info = given ?? stat()
        if given == nil, lstat(path, &info) != 0 { return (.unreadable(errno), false) }
        guard isOwn(info) else { return (.unsafe("\(path) belongs neither to root nor to this user"), false) }
        guard info.st_mode & (S_IWGRP | S_IWOTH) != 0 else { return (nil, false) }
        if info.st_mode & S_IFMT == S_IFDIR, info.st_mode & S_ISVTX != 0 { return (nil, true) }
        return (.unsafe("\(path) is writable by others; run chmod go-w to make it safe"), false)
    }

    private static func isOwn(_ info: stat) -> Bool { info.st_uid == 0 || info.st_uid == geteuid() }

    private static func components(of path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX) + 1)
        let count = readlink(link, &bytes, bytes.count - 1)
        guard count > 0 else { return nil }
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
