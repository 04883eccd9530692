import CLarder
import LocalTree
import Model
import PluginHost
import Projects
import Vault

/// The files among the assets of plugins' projects, which the plugins may have uploaded.
struct AccountUploads: PluginUploads {
    let projects: AccountProjects
    let bookmark: Bookmark
    /// Whether no snapshot is taken.
    let isReadOnly: Bool

    func take(
        _ file: String, ofProject project: String, of plugin: PluginID
    ) throws(ServiceError) -> HeldSnapshot? {
        let assets = try projects.project(project, of: plugin, withSteps: false, withUserData: false).assets
        do throws(Failure) {
            guard !isReadOnly else {
                try SnapshotBatch.check(file, beneath: assets)
                return nil
            }
            guard let folder = Vault.outgoingFolder(at: bookmark.vault, files: bookmark.files) else {
                throw Failure(.localIO, "There is no folder for snapshots")
            }
            let (taken, lock) = try TakenSnapshot.take(file, beneath: assets, into: folder)
            return HeldSnapshot(taken, lock: lock) { $0.discard(from: folder) }
        } catch {
            throw ServiceError(error.status, error.message)
        }
    }
}

extension Failure {
    fileprivate var status: larder_status {
        switch kind {
        case .notFound: LARDER_NOT_FOUND
        case .denied: LARDER_DENIED
        case .badData: LARDER_INVALID_ARGUMENT
        default: LARDER_IO
        }
    }
}
