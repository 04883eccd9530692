import TestSupport

/// Random changes of an account's items: on the server in the folders `/o0` to `/o2`, and by commands below `/c`. A name
/// is used once, so that no change is in the way of another.
struct Disturbance {
    private let account: Account
    private let tree: OutsideTree
    private var random: SeededGenerator
    private var outside: [String] = []
    private var folders = ["/o0", "/o1", "/o2"]
    /// What commands have made. Perhaps they have not: a host that is killed may not have heard of it.
    private var inside: [String] = []
    private var pins: [String] = []
    private var count = 0
    private(set) var commands = 0
    private(set) var changes = 0

    /// The item that one of the followers follows by its path.
    static let followed = "/o1/a%41 é"

    init(_ account: Account, _ tree: OutsideTree, _ random: SeededGenerator) {
        (self.account, self.tree, self.random) = (account, tree, random)
    }

    /// Makes the files at the beginning.
    /// - Parameter many: The number of files in a folder that does not change.
    mutating func begin(many: Int) async throws {
        for folder in folders + ["/c", "/many"] { try await tree.makeFolder(folder) }
        for number in 0..<many { try await tree.put("/many/\(number)", "\(number)") }
        try await tree.put(Self.followed, "1")
        for _ in 0..<24 { try await put() }
    }

    /// Changes something on the server.
    mutating func change() async throws {
        changes += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: try await put()
        case 4..<6:
            // A size that no other version has.
            if let path = outside.randomElement(using: &random) { try await tree.put(path, text()) }
        case 6: try await tree.put(Self.followed, text())
        case 7..<9: try await move()
        case 9:
            let folder = "\(try some(folders))/\(name())"
            try await tree.makeFolder(folder)
            folders.append(folder)
        default:
            guard outside.count > 12, let place = outside.indices.randomElement(using: &random) else { return }
            try await tree.remove(outside.remove(at: place))
        }
    }

    /// Removes or moves the followed item, or brings it back.
    mutating func changeFollowed() async throws {
        if try await tree.paths().contains(Self.followed) {
            try await tree.remove(Self.followed)
        } else {
            try await tree.put(Self.followed, text())
        }
    }

    private mutating func put() async throws {
        let path = "\(try some(folders))/\(name())"
        try await tree.put(path, text())
        outside.append(path)
    }

    private mutating func move() async throws {
        if Int.random(in: 0..<3, using: &random) == 0, folders.count > 3 {
            // A folder with all that is in it.
            let place = Int.random(in: 3..<folders.count, using: &random)
            let (old, new) = (folders[place], "\(try some(Array(folders[..<3])))/\(name())")
            try await tree.move(old, new)
            func moved(_ path: String) -> String {
                path == old || path.hasPrefix("\(old)/") ? new + path.dropFirst(old.count) : path
            }
            (folders, outside) = (folders.map(moved), outside.map(moved))
        } else if let place = outside.indices.randomElement(using: &random) {
            let target = "\(try some(folders))/\(name())"
            try await tree.move(outside[place], target)
            outside[place] = target
        }
    }

    /// Gives a command. Whether it is heard makes no difference.
    mutating func command() async throws {
        commands += 1
        let arguments: [String]
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<2:
            inside.append("/c/\(name())")
            arguments = ["mkdir", inside[inside.count - 1], "--queue"]
        case 2..<5:
            try Files.write(text(), to: "\(account.folder)/source")
            inside.append("/c/\(name())")
            arguments = ["put", "\(account.folder)/source", inside[inside.count - 1], "--queue"]
        case 5..<7:
            guard let place = inside.indices.randomElement(using: &random) else { return }
            let old = inside[place]
            inside[place] = "/c/\(name())"
            arguments = ["mv", old, inside[place], "--queue"]
        case 7:
            guard let place = inside.indices.randomElement(using: &random) else { return }
            arguments = ["rm", inside.remove(at: place), "--queue"]
        case 8:
            guard let path = (outside + inside).randomElement(using: &random) else { return }
            pins.append(path)
            arguments = ["pin", path]
        default:
            guard let place = pins.indices.randomElement(using: &random) else { return }
            arguments = ["unpin", pins.remove(at: place)]
        }
        _ = try await account.larder.run(arguments, timeout: .seconds(60))
    }

    private mutating func some(_ list: [String]) throws -> String {
        guard let one = list.randomElement(using: &random) else { throw SetupError("nothing to choose from") }
        return one
    }

    private mutating func name() -> String {
        count += 1
        return ["f\(count)", "n%41 \(count)", "é\(count)", "+&?#\(count)"].randomElement(using: &random) ?? "f\(count)"
    }

    private mutating func text() -> String {
        count += 1
        return String(repeating: "x", count: count)
    }
}
