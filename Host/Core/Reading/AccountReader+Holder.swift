public import Model
import Threads
import Vault

extension AccountReader {
    /// Returns the process that had an account's vault open last, which may have ended; nil if there was none.
    public static func lastHolder(of bookmark: Bookmark) async -> VaultHolder? {
        await runBlocking { VaultHolder.last(of: bookmark.vault) }
    }
}
