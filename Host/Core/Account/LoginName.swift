import Glibc

/// The name of the user for whom the process works.
public enum LoginName {
    /// Returns the login name of the process's user, or else `uid` and the number. It may block where names are looked
    /// up over a network.
    public static func current() -> String {
        let uid = getuid()
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var space = [CChar](repeating: 0, count: 16_384)
        let name: String? = space.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress, getpwuid_r(uid, &entry, base, buffer.count, &found) == 0, found != nil
            else { return nil }
            return entry.pw_name.map { String(cString: $0) }
        }
        guard let name, !name.isEmpty else { return "uid \(uid)" }
        return name
    }
}
