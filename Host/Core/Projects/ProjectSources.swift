import LocalTree
import Vault

/// Folders that steps of projects take their assets from.
public enum ProjectSources {
    /// Why a folder is refused as such, besides what the storage of the projects refuses itself: a vault and a folder of local copies
    /// belong to their accounts. It blocks.
    /// - Parameter folder: absolute, without symbolic links.
    @Sendable public static func refusal(of folder: String) -> String? { Vault.overlap(with: folder) }
}
