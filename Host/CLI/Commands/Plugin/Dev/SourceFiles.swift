import Glibc

/// The files from which a plugin is built, as they were at a time. Two of these are equal if nothing was saved between.
struct SourceFiles: Equatable, Sendable {
    private(set) var stamps: [String: FileStamp] = [:]

    init() {}

    /// Reads the stamps of the files in a folder and below it, without what a build leaves and without hidden files.
    /// Links to folders are not followed. Blocks.
    init(in folder: String) { add(folder, below: "") }

    /// The names of folders directly in the plugin's one that a build fills, and of files there that it may write.
    private static let builtFolders = ["out", "build", "target"]
    private static let builtFiles = ["Cargo.lock", "Package.resolved"]

    private mutating func add(_ folder: String, below prefix: String) {
        for name in FolderNames(folder).names where !name.hasPrefix(".") {
            let path = "\(folder)/\(name)"
            var info = stat()
            guard lstat(path, &info) == 0 else { continue }
            if info.st_mode & S_IFMT == S_IFDIR {
                if !prefix.isEmpty || !Self.builtFolders.contains(name) { add(path, below: prefix + name + "/") }
            } else if prefix.isEmpty, Self.builtFiles.contains(name) {
                continue
            } else if let stamp = FileStamp(path, evenEmpty: true) {
                stamps[prefix + name] = stamp
            }
        }
    }

    /// Returns the paths of files that are other, new or gone, sorted.
    func changes(since before: SourceFiles) -> [String] {
        Set(stamps.keys).union(before.stamps.keys).filter { stamps[$0] != before.stamps[$0] }.sorted()
    }
}

/// Tells when a build itself changes files of the sources.
///
/// What is saved while a build is under way is built after it. A build that writes a source file would so be made again
/// and again. If the same files, and no others, change in so many builds in a row, they count as written by the build: a
/// person may save one file during several builds, but hardly during each of them.
struct BuildChanges {
    static let most = 10
    private var last: [String] = []
    private var count = 0

    /// - Parameter changed: The paths of the files that changed while a build was under way.
    /// - Returns: Whether the build itself has written them.
    mutating func areByBuild(_ changed: [String]) -> Bool {
        count = changed.isEmpty ? 0 : changed == last ? count + 1 : 1
        last = changed
        return count >= Self.most
    }
}
