import Glibc
import Model

extension FileSystemSpace {
    /// Reads the size of the file system that holds a folder.
    init(ofFolder folder: String) throws(Failure) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else {
            throw Failure(.localIO, "The folder \(folder) cannot be reached: \(String(cString: strerror(errno)))")
        }
        self.init(status)
    }
}
