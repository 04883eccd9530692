import ItemList
import ItemPolicies
import Model
import PluginHost
import SyncEngine

/// The parts of an account that its sync engine uses while it works.
struct AccountPartners: EnginePartners {
    let list: ItemListUpdate
    let policies: ItemPolicies

    func relist(_ folder: ItemPath) async { await list.relist(folder) }

    func covers(_ item: Item, for requester: DownloadTrigger) throws -> Bool? {
        try policies.covers(item, for: PluginID(of: requester))
    }

    var coverageVersion: Int? { policies.coverageVersion }

    func cameUncovered() { policies.cameUncovered() }

    var maximums: [DownloadTrigger: Int] { policies.maximums }
}
