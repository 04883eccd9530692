import Glibc

/// The paths of this program and of the files that come with it.
enum BuiltIn {
    /// The absolute path of the running executable, with symbolic links resolved.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "/proc/self/exe" }
        defer { free(path) }
        return String(cString: path)
    }

    /// The folder of the built-in plugins: `../lib/larder/plugins` from the executable's folder, else the executable's
    /// folder itself, as in a build tree.
    static var pluginFolder: String { folder("lib/larder/plugins") }

    /// The folder of plugins for all hosts of this machine.
    static let systemPluginFolder = "/usr/local/lib/larder/plugins"

    /// The program behind `larder demo`, in `../libexec/larder` from the executable's folder, or beside the executable.
    static var demo: String { folder("libexec/larder") + "/larder-demo" }

    /// The folder of the templates of plugins: `../share/larder/templates` from the executable's folder. If that is not
    /// there and the executable is in a build tree, at any depth below `.build`, it is the folder of the sources.
    static var templates: String {
        let folder = above(executable)
        let installed = "\(above(folder))/share/larder/templates"
        let parts = folder.split(separator: "/", omittingEmptySubsequences: false)
        guard access(installed, F_OK) != 0, let build = parts.lastIndex(of: ".build") else { return installed }
        let sources = parts[..<build].joined(separator: "/") + "/SDK/Templates"
        return access(sources, F_OK) == 0 ? sources : installed
    }

    /// The prefix in which this program is installed with an SDK for plugins; nil if there is none with it.
    static var sdk: String? {
        let prefix = above(above(executable))
        return access("\(prefix)/include/larder/larder.h", F_OK) == 0 ? prefix : nil
    }

    /// Returns an installed folder beside the executable's one, or else the executable's folder.
    private static func folder(_ name: String) -> String {
        let folder = above(executable)
        let installed = "\(above(folder))/\(name)"
        var status = stat()
        return stat(installed, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? installed : folder
    }

    private static func above(_ path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// The command that first opens a library in a process of its own. The library's path is appended as an argument.
    static var probeCommand: [String] { [executable, Probe.name] }
}
