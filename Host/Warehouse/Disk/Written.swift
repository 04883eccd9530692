/// The files and folders that were written but are not durable yet.
struct Written {
    /// The number of files and folders above which one sync of the whole file system costs less than one sync for each.
    private static let limit = 64

    var files: [Path] = []
    /// The folders in the order of their completion: subfolders come first.
    var folders: [Path] = []

    /// Makes all files and folders durable. Everything is written by then, so the first sync commits most of it and the
    /// other syncs find little to do.
    func sync(on disk: Disk) throws(SystemCallError) {
        if files.count + folders.count > Self.limit, let any = folders.last { return try disk.syncFileSystem(of: any) }
        for path in files { try disk.sync(path) }
        for path in folders { try disk.sync(path) }
    }
}
