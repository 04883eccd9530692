import Glibc
import Model

/// The folder of a plugin's sources, as `larder plugin new` makes it: `./build` in it leaves a library in `out`.
struct PluginProject: Sendable {
    /// The absolute path of the folder.
    let folder: String

    /// - Parameter folder: The folder as a person has named it.
    /// - Throws: `notFound` if there is no such folder, or no program `build` in it.
    init(_ folder: String) throws(Failure) {
        self.folder = ConfigPaths.tidied(folder.hasPrefix("/") ? folder : currentFolder() + "/" + folder)
        var status = stat()
        guard stat(self.folder, &status) == 0 else {
            throw Failure(.notFound, "\(folder): \(errorText(errno))", hint: Self.advice)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw Failure(.notFound, "\(folder) is not a folder", hint: Self.advice)
        }
        guard stat(build, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.notFound, "\(folder) has no program `build`", hint: Self.advice)
        }
        guard access(build, X_OK) == 0 else {
            throw Failure(
                .notFound, "\(folder)/build cannot be run: \(errorText(errno))",
                hint: "make it a program: `chmod +x build`")
        }
    }

    private static let advice =
        "name a folder in which `./build` leaves `out/NAME.so`; `larder plugin new` makes one"

    private var build: String { folder + "/build" }

    /// Returns the library that a build has left: that with the folder's name, else the only one. Blocks.
    /// - Throws: `notFound` with what there is.
    func library() throws(Failure) -> String {
        let name = folder.split(separator: "/").last.map { "\($0).so" } ?? ""
        let libraries = FolderNames(folder + "/out").names.filter { $0.hasSuffix(".so") && !$0.hasPrefix(".") }.sorted()
        if libraries.contains(where: { $0.hasSameBytes(as: name) }) { return "\(folder)/out/\(name)" }
        if let only = libraries.first, libraries.count == 1 { return "\(folder)/out/\(only)" }
        throw Failure(
            .notFound,
            libraries.isEmpty
                ? "./build has left no library out/\(name)"
                : "./build has left several libraries in out, and none is \(name): \(libraries.joined(separator: ", "))"
        )
    }
}

/// The names in a folder.
struct FolderNames {
    /// The names in no order, without `.` and `..`; none if the folder cannot be read.
    var names: [String] = []

    /// Reads the names. Blocks.
    init(_ folder: String) {
        guard let stream = opendir(folder) else { return }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
