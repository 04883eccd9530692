import CLinux
import Glibc
import Model

/// A folder with the files of a new plugin.
struct Template {
    let language: String
    let kind: String
    private let folder: String

    /// Returns the templates that come with this program, sorted by their names.
    /// - Throws: `cannotCreate` if there are none.
    static func all() throws(Failure) -> [Template] {
        let folder = BuiltIn.templates
        let all = names(in: folder).sorted().compactMap { name -> Template? in
            let parts = name.split(separator: "-").map(String.init)
            return parts.count == 2 ? Template(language: parts[0], kind: parts[1], folder: "\(folder)/\(name)") : nil
        }
        guard !all.isEmpty else {
            throw Failure(
                .cannotCreate, "the templates of plugins, which come with Larder, are not in \(folder)",
                hint: "`./Host/install` installs them with the program")
        }
        return all
    }

    private init(language: String, kind: String, folder: String) {
        (self.language, self.kind, self.folder) = (language, kind, folder)
    }

    /// Chooses a template.
    /// - Throws: `usage` with those that there are.
    init(language: String, kind: String, among all: [Template]) throws(Failure) {
        func check(_ word: String, _ option: String, _ known: [String]) throws(Failure) {
            guard !known.contains(where: { $0.hasSameBytes(as: word) }) else { return }
            let meant = nearestName(to: word, among: known, ifLikely: true).map { "did you mean `\($0)`? " } ?? ""
            throw Failure(
                .usage, "\(option): there is no template for `\(Text.visible(word))`",
                hint: meant + "there are: \(known.joined(separator: ", "))")
        }
        try check(language, "--language", Self.distinct(all.map(\.language)))
        let ofLanguage = all.filter { $0.language == language }
        try check(kind, "--kind", ofLanguage.map(\.kind))
        guard let template = ofLanguage.first(where: { $0.kind == kind }) else {
            throw Failure(.internal, "no template for \(language) and \(kind)")
        }
        self = template
    }

    /// Returns names without repetitions, in their order.
    static func distinct(_ names: [String]) -> [String] {
        var known: Set<String> = []
        return names.filter { known.insert($0).inserted }
    }

    /// Makes a plugin's folder in the current one: whole, or not at all. Blocks.
    /// - Parameter sdk: The prefix of the SDK that the plugin is built with; nil if the author is to name it.
    /// - Parameter isEnded: Tells whether to stop. It is asked before each file.
    /// - Returns: the path of the plugin's folder; nil if it was stopped, and nothing is made.
    /// - Throws: `cannotCreate` if something has its name, or the folder cannot be written; `localIO` if the disk is full.
    func copy(for name: NewPluginName, sdk: String?, isEnded: () -> Bool) throws(Failure) -> String? {
        let parent = currentFolder()
        // What is shown. The path of the current folder need not be text, so that what is used is relative.
        let made = (parent == "/" ? "" : parent) + "/\(name.text)"
        var status = stat()
        // A link that leads nowhere is there too.
        guard lstat(name.text, &status) != 0 else { throw Self.exists(made) }
        var stage = Array(".\(name.text)-XXXXXX".utf8CString)
        guard mkdtemp(&stage) != nil else { throw Self.failure(made, errno) }
        let path = String(decoding: stage.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        do throws(Failure) {
            // The folder gets the mode that any other gets.
            try Self.makeFolder(path + "/new", for: made)
            guard try copy(folder, to: path + "/new", for: name, as: made, isEnded: isEnded) else {
                TemporaryFolder.remove(path)
                return nil
            }
            if let sdk { try Self.write(Array("\(sdk)\n".utf8), to: path + "/new/sdk.path", mode: 0o666, for: made) }
            guard Self.place(path + "/new", as: name.text) else {
                throw errno == EEXIST ? Self.exists(made) : Self.failure(made, errno)
            }
        } catch {
            TemporaryFolder.remove(path)
            throw error
        }
        rmdir(path)
        return made
    }

    /// Renames a folder, and replaces nothing.
    /// - Returns: Whether that succeeded; otherwise `errno` says why.
    private static func place(_ folder: String, as name: String) -> Bool {
        if linux_rename_noreplace(AT_FDCWD, folder, AT_FDCWD, name) == 0 { return true }
        // Such as NFS, which cannot refuse to replace: an empty folder is made, which a rename replaces.
        guard errno == EINVAL, mkdir(name, 0o700) == 0 else { return false }
        if rename(folder, name) == 0 { return true }
        let number = errno
        rmdir(name)
        errno = number
        return false
    }

    /// - Returns: Whether all is copied, and it was not stopped.
    private func copy(
        _ source: String, to target: String, for name: NewPluginName, as made: String, isEnded: () -> Bool
    ) throws(Failure) -> Bool {
        for entry in Self.names(in: source) where !Self.isBuilt(entry) {
            guard !isEnded() else { return false }
            let (from, to) = ("\(source)/\(entry)", "\(target)/\(name.fill(entry))")
            var status = stat()
            guard lstat(from, &status) == 0 else { throw .reading(from, errno) }
            if status.st_mode & S_IFMT == S_IFDIR {
                try Self.makeFolder(to, for: made)
                guard try copy(from, to: to, for: name, as: made, isEnded: isEnded) else { return false }
            } else {
                let text = String(decoding: try readFile(from, limit: 1 << 20), as: UTF8.self)
                let mode: mode_t = status.st_mode & S_IXUSR == 0 ? 0o666 : 0o777
                try Self.write(Array(name.fill(text).utf8), to: to, mode: mode, for: made)
            }
        }
        return true
    }

    /// Tells whether a file of a template is what building it in its place has left.
    private static func isBuilt(_ name: String) -> Bool {
        ["out", "sdk.path", ".build", "target", "Cargo.lock", "Package.resolved"].contains(name)
    }

    private static func makeFolder(_ path: String, for made: String) throws(Failure) {
        guard mkdir(path, 0o777) == 0 else { throw failure(made, errno) }
    }

    private static func write(_ bytes: [UInt8], to path: String, mode: mode_t, for made: String) throws(Failure) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw failure(made, errno) }
        let isWritten = PrivateFile.write(bytes, to: descriptor)
        let number = errno
        guard close(descriptor) == 0, isWritten else { throw failure(made, isWritten ? errno : number) }
    }

    private static func exists(_ path: String) -> Failure {
        Failure(
            .cannotCreate, "\(Text.visible(path)) exists",
            hint: "name the plugin differently, or move away what is there")
    }

    private static func failure(_ path: String, _ number: Int32) -> Failure {
        let kind: Failure.Kind = [ENOSPC, EDQUOT, EIO].contains(number) ? .localIO : .cannotCreate
        return Failure(kind, "\(Text.visible(path)) cannot be made: \(errorText(number))")
    }

    private static func names(in folder: String) -> [String] { FolderNames(folder).names }
}
