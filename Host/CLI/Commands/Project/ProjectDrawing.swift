import Model
import Warehouse

/// A project for people: its properties, and its steps with the cursor between the applied steps and the undone steps.
struct ProjectDrawing {
    /// The number of steps that are drawn before the cursor, and after it. The other steps are only counted.
    private static let neighbours = 10

    private(set) var lines: [String]

    /// Makes the lines.
    /// - Parameter size: the project's size in bytes.
    init(_ project: ProjectSnapshot, size: UInt64, showsAllSteps: Bool) {
        let steps = project.stepIDs ?? []
        lines = [
            "project   \(project.id)",
            "program   \(Text.visible(project.bundleID))",
            "created   \(Text.time(Timestamp(project.creationDate)))",
            "modified  \(Text.time(Timestamp(project.modificationDate)))",
            "size      \(Text.bytes(Int64(clamping: size)))",
            "assets    \(Text.visible(project.assets))",
            "steps     \(steps.count), \(project.stepCursor) applied",
        ]
        let shown =
            showsAllSteps
            ? steps.indices
            : max(0, project.stepCursor - Self.neighbours)..<min(steps.count, project.stepCursor + Self.neighbours)
        let width = "\(steps.count)".count
        func step(_ index: Int, _ mark: String) -> String {
            "  \(mark) \(Text.padded("\(index + 1)", to: width, atRight: true))  \(steps[index])"
        }
        if shown.lowerBound > 0 { lines.append("    … \(shown.lowerBound) before") }
        for index in shown.prefix(while: { $0 < project.stepCursor }) { lines.append(step(index, "●")) }
        if !steps.isEmpty { lines.append("  ▶ cursor") }
        for index in shown.drop(while: { $0 < project.stepCursor }) { lines.append(step(index, "○")) }
        if shown.upperBound < steps.count { lines.append("    … \(steps.count - shown.upperBound) after") }
        if let userData = project.userData { lines += Self.lines(ofUserData: userData) }
    }

    /// Returns user data as lines of text if it is text, else only its size.
    static func lines(ofUserData bytes: [UInt8]) -> [String] {
        let text = String(validating: bytes, as: UTF8.self)
        let isText = text?.unicodeScalars.allSatisfy {
            $0.value >= 0x20 && $0.value != 0x7f || "\n\t".contains(Character($0))
        }
        guard let text, isText == true, !bytes.isEmpty else {
            return ["data      \(Text.bytes(Int64(bytes.count)))" + (bytes.isEmpty ? "" : ", no text")]
        }
        let rows = text.split(separator: "\n", omittingEmptySubsequences: false)
        return ["data      \(Text.bytes(Int64(bytes.count)))"] + rows.map { "  " + Text.visible(String($0)) }
    }
}
