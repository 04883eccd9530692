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

    /// Returns an installed folder beside the executable's one, or else the executable's folder.
    private static func folder(_ name: String) -> String {
        let folder = String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])
        let parent = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        let installed = "\(parent)/\(name)"
        var status = stat()
        return stat(installed, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? installed : folder
    }

    /// The command that first opens a library in a process of its own. The library's path is appended as an argument.
    static var probeCommand: [String] { [executable, Probe.name] }
}
