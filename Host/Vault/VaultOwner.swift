package import Glibc
package import Model

/// The user that a vault belongs to.
package enum VaultOwner {
    /// Throws `.denied` if this process is root's and the vault is another user's, or, if there is no vault yet, the folder
    /// in which it would be made. What root makes there, that user could neither read nor remove. Blocks.
    /// - Parameters:
    ///   - vault: The absolute path of the vault.
    ///   - user: The effective user of this process.
    ///   - isHostAsked: Whether a host of that user would have been asked, if one were at work.
    package static func refuseOther(
        than user: uid_t = geteuid(), of vault: String, isHostAsked: Bool = true
    ) throws(Failure) {
        var info = stat()
        var place = vault
        guard user == 0 else { return }
        while stat(place, &info) != 0 {
            guard errno == ENOENT, let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")), slash > place.startIndex
            else { return }
            place = String(place[..<slash])
        }
        guard info.st_uid != user else { return }
        let owner = name(of: info.st_uid) ?? "\(info.st_uid)"
        let problem =
            place == vault
            ? "belongs to the user \(owner)" + (isHostAsked ? ", and no host of that user is at work" : "")
            : "would be made in \(place), which belongs to the user \(owner)"
        throw Failure(.denied, "The vault \(vault) \(problem)", hint: .runAs(user: owner))
    }

    private static func name(of user: uid_t) -> String? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var bytes = [CChar](repeating: 0, count: 16_384)
        guard getpwuid_r(user, &entry, &bytes, bytes.count, &found) == 0, let name = found?.pointee.pw_name else {
            return nil
        }
        return String(validatingCString: name)
    }
}
