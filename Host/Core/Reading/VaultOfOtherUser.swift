public import Model
import Vault

extension Bookmark {
    /// Refuses to make anything in the account's vault without a host if this process is root's and the vault is another
    /// user's, who could neither read nor remove it. Blocks.
    /// - Throws: `.denied` then.
    public func refuseVaultOfOtherUser() throws(Failure) {
        try VaultOwner.refuseOther(of: vault, isHostAsked: false)
    }
}
