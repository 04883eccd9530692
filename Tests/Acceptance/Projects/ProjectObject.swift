import FoundationEssentials

/// The JSON object of a project, as programs read it.
struct ProjectObject: Decodable, Hashable {
    var id: String
    var bundleID: String
    var created: String
    var modified: String
    var stepCursor: Int
    var steps: [String]
    var canUndo: Bool
    var canRedo: Bool
    var size: Int
    var assets: String
    var userData: Data?

    init(line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}

/// The JSON object of a step.
struct StepObject: Decodable, Hashable {
    var id: String
    var project: String
    var userData: Data
    var assets: String

    init(line: String) throws { self = try JSONDecoder().decode(Self.self, from: Data(line.utf8)) }
}
