import Glibc

/// Where this program and what comes with it lies.
enum BuiltIn {
    /// The running executable, absolute; links are followed.
    static var executable: String {
        guard let path = realpath("/proc/self/exe", nil) else { return "/proc/self/exe" }
        defer { free(path) }
        return String(cString: path)
    }

    /// The folder of the built-in plugins: `../lib/larder/plugins` beside the executable's folder, else that folder
    /// itself, as in a build tree.
    static var pluginFolder: String {
        let folder = String(executable[..<(executable.lastIndex(of: "/") ?? executable.startIndex)])
        let parent = String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)])
        let installed = parent + "/lib/larder/plugins"
        var status = stat()
        return stat(installed, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR ? installed : folder
    }

    /// What opens a library in a process of its own first; the library's path follows.
    static var probeCommand: [String] { [executable, Probe.name] }
}
