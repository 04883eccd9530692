/// What was written and is not durable yet.
struct Written {
    /// Above this number one sync of the whole file system costs less than one for each.
    private static let limit = 64

    var files: [Path] = []
    /// In the order in which they were completed: what is below comes first.
    var folders: [Path] = []

    /// Makes all of it durable. All is written by then, so that the first sync commits most of it and the others find
    /// little to do.
    func sync(on disk: Disk) throws(SystemCallError) {
        if files.count + folders.count > Self.limit, let any = folders.last { return try disk.syncFileSystem(of: any) }
        for path in files { try disk.sync(path) }
        for path in folders { try disk.sync(path) }
    }
}
