public import Model

/// The files of an account's plugins that the plugins may have uploaded. Called on the plugins' threads, where it may
/// block.
public protocol PluginUploads: Sendable {
    /// Takes a snapshot of a file among the assets of a plugin's project.
    /// - Parameters:
    ///   - file: The file's path below the folder of assets, without a slash before it.
    ///   - project: The project's id.
    ///   - plugin: The plugin.
    /// - Returns: The snapshot; nil in a preview, in which the file is only looked at.
    /// - Throws: `LARDER_NOT_FOUND` if there is no such project or file; `LARDER_DENIED` if a symbolic link is on the
    ///   way; `LARDER_INVALID_ARGUMENT` if it is not a regular file; `LARDER_IO` if the snapshot cannot be taken.
    func take(
        _ file: String, ofProject project: String, of plugin: PluginID
    ) throws(ServiceError) -> HeldSnapshot?
}
