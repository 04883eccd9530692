import DemoServer
import FoundationEssentials
import Glibc

/// The program behind `larder demo`: a server with sample files, calendars and shares.
///
/// It prints a line of JSON with what the server has. It answers each line of its input, which names an act or asks for the
/// requests since the last such question, with a line of JSON. It ends with its input.
@main struct DemoProgram {
    /// What the server has, and what can be done with it.
    private struct Contents: Encodable {
        var url, user, password: String
        /// The number of files and folders, and of the files below ``photos``.
        var items, pictures: Int
        var photos = DemoTree.photos
        var changed = DemoTree.changed
        var movedFrom = DemoTree.moved.from
        var movedTo = DemoTree.moved.to
        var added = DemoTree.added
        var letters = (1...3).map(DemoTree.letter)
        var calendar = DemoCalendars.work.name
    }

    /// What clients asked for.
    private struct Requests: Encodable {
        var count: Int
        /// The paths of the files that were sent, and the number of their bytes.
        var fetched: [String]
        var bytes: Int
    }

    /// The answer to an act: nothing, or why it was not done.
    private struct Done: Encodable {
        var error: String?
    }

    static func main() async {
        do {
            let server = try await DemoServer.start()
            DemoTree.fill(server.tree)
            DemoCalendars.fill(server)
            let paths = server.tree.paths
            let pictures = paths.count { $0.hasPrefix(DemoTree.photos + "/") && !$0.hasSuffix("/") }
            try tell(
                Contents(
                    url: server.url, user: server.user, password: server.password, items: paths.count,
                    pictures: pictures))
            while let line = readLine() {
                if line == "requests" { try tell(takeRequests(from: server)) } else { try tell(act(line, on: server)) }
            }
            await server.stop()
        } catch {
            print("larder-demo: \(error)")
            exit(1)
        }
    }

    private static func tell(_ answer: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        print(String(decoding: try encoder.encode(answer), as: UTF8.self))
        fflush(nil)
    }

    private static func takeRequests(from server: DemoServer) -> Requests {
        let all = server.requests
        server.forgetRequests()
        let fetched = all.filter { $0.method == "GET" && DemoTree.isFile($0.path) && $0.status < 300 }
        return Requests(
            count: all.count, fetched: fetched.map(\.path), bytes: fetched.reduce(0) { $0 + $1.bytes })
    }

    private static func act(_ name: String, on server: DemoServer) -> Done {
        let tree = server.tree
        switch name {
        case "change": tree.put(DemoTree.changed, DemoTree.picture(seed: 99, size: 90_000))
        case "move": tree.move(DemoTree.moved.from, to: DemoTree.moved.to)
        case "add": tree.put(DemoTree.added, DemoTree.picture(seed: 7, size: 40_000))
        case "change letter": tree.put(DemoTree.letter(1), "Letter 1, once more\n")
        case "remove letter": tree.remove(DemoTree.letter(2))
        case "add lunch": DemoCalendars.addLunch(server)
        default: return Done(error: "there is no act `\(name)`")
        }
        return Done()
    }
}
