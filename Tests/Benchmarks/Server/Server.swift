import DemoServer
import Glibc

/// The program that serves a folder's files with the demo's server. It prints the server's address, user and password, and
/// for each line of its input the requests that were answered since, and an empty line. It ends with its input.
@main struct Server {
    static func main() async {
        guard CommandLine.arguments.count == 2 else {
            print("usage: server FOLDER")
            exit(64)
        }
        do {
            let server = try await DemoServer.start()
            add(CommandLine.arguments[1], to: server.tree, as: "")
            print(server.url, server.user, server.password)
            fflush(nil)
            while readLine() != nil {
                for request in server.requests {
                    print(request.method, request.status, request.bytes, request.path)
                }
                server.forgetRequests()
                print()
                fflush(nil)
            }
            await server.stop()
        } catch {
            print("\(error)")
            exit(70)
        }
    }

    /// Adds a folder's contents to the tree, with their modification times.
    private static func add(_ folder: String, to tree: Tree, as path: String) {
        guard let entries = opendir(folder) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            let file = "\(folder)/\(name)"
            var status = stat()
            guard lstat(file, &status) == 0 else { continue }
            if status.st_mode & S_IFMT == S_IFDIR {
                tree.makeFolder("\(path)/\(name)")
                add(file, to: tree, as: "\(path)/\(name)")
            } else if let stream = fopen(file, "r") {
                let bytes = [UInt8](unsafeUninitializedCapacity: Int(status.st_size)) { buffer, count in
                    count = fread(buffer.baseAddress, 1, buffer.count, stream)
                }
                fclose(stream)
                tree.put("\(path)/\(name)", bytes, modified: Int64(status.st_mtim.tv_sec))
            }
        }
    }
}
