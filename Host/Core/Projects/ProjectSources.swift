import LocalTree
import Vault

/// The folders from which steps of projects take their assets.
public enum ProjectSources {
    /// Returns the reason why a folder may not be such a source, besides the reasons that the storage of the projects
    /// checks itself: vaults and folders of local copies belong to their accounts. Returns nil if there is none. This
    /// function blocks.
    /// - Parameter folder: The folder's absolute path, without symbolic links.
    @Sendable public static func refusal(of folder: String) -> String? { Vault.overlap(with: folder) }
}
