import FoundationEssentials
import Model

/// The names that a server of the ownCloud family takes for no file and no folder, as its capabilities list them. A
/// value without I/O.
///
/// Nextcloud compares names, the parts before the first dot, and endings without regard to case, and characters as they
/// are (`forbidden_filenames` and the three beside it; `blacklisted_files` before version 30).
public struct ForbiddenNames: Codable, Hashable, Sendable {
    private var names: [String] = []
    private var basenames: [String] = []
    private var characters: [String] = []
    private var endings: [String] = []

    /// The number of entries of a list that are kept.
    private static let mostEntries = 1_000

    /// Creates lists without entries.
    init() {}

    /// Reads a capabilities document. What it does not list is not forbidden.
    init(json: [UInt8]) {
        let told: Files?
        do { told = try JSONDecoder().decode(Document.self, from: Data(json)).ocs.data.capabilities.files } catch {
            return
        }
        names = Self.entries(told?.names?.list ?? told?.olderNames?.list).map { $0.lowercased() }
        basenames = Self.entries(told?.basenames?.list).map { $0.lowercased() }
        characters = Self.entries(told?.characters?.list)
        endings = Self.entries(told?.endings?.list).map { $0.lowercased() }
    }

    private static func entries(_ told: [String]?) -> [String] {
        (told ?? []).prefix(mostEntries).filter { !$0.isEmpty && $0.utf8.count <= ItemPath.longestName }
    }

    /// Returns the reason why the server does not take a name; nil if it is not known to refuse it.
    public func objection(to name: String) -> String? {
        let lower = name.lowercased()
        if names.contains(where: { $0.hasSameBytes(as: lower) }) { return "takes no file or folder named \(name)" }
        let basename = lower.beforeFirstDot
        if basenames.contains(where: { $0.hasSameBytes(as: basename) }) {
            return "takes no name that is \(basename) before its first dot"
        }
        if let ending = endings.first(where: { lower.utf8.reversed().starts(with: $0.utf8.reversed()) }) {
            return "takes no name that ends with \"\(ending)\""
        }
        if let character = characters.first(where: { name.utf8.contains(sequence: $0.utf8) }) {
            return "takes no name with \"\(character)\" in it"
        }
        return nil
    }

    private struct Document: Decodable { var ocs: OCS }
    private struct OCS: Decodable { var data: Contents }
    private struct Contents: Decodable { var capabilities: Parts }
    private struct Parts: Decodable { var files: Files? }
    private struct Files: Decodable {
        var names: TextList?
        var olderNames: TextList?
        var basenames: TextList?
        var characters: TextList?
        var endings: TextList?

        enum CodingKeys: String, CodingKey {
            case names = "forbidden_filenames"
            case olderNames = "blacklisted_files"
            case basenames = "forbidden_filename_basenames"
            case characters = "forbidden_filename_characters"
            case endings = "forbidden_filename_extensions"
        }
    }

    /// A list of texts. What is something else says nothing, and leaves the other lists readable.
    private struct TextList: Decodable {
        var list: [String]

        init(from decoder: any Decoder) throws {
            do { list = try [String](from: decoder) } catch { list = [] }
        }
    }
}

extension String {
    /// The part before the first dot that is not the first character.
    fileprivate var beforeFirstDot: String {
        let dot = UInt8(ascii: ".")
        guard let end = utf8.dropFirst().firstIndex(of: dot) else { return self }
        return String(self[..<end])
    }
}

extension String.UTF8View {
    fileprivate func contains(sequence other: Self) -> Bool {
        indices.contains { self[$0...].starts(with: other) }
    }
}
