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

    /// The folder of the templates of plugins: that of the sources if the executable is in their build tree,
    /// `.build/PLATFORM/CONFIGURATION`; otherwise `../share/larder/templates` from the executable's folder.
    static var templates: String {
        let platform = above(above(executable))
        let build = above(platform)
        return build.hasSuffix("/.build") ? "\(above(build))/SDK/Templates" : "\(platform)/share/larder/templates"
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
