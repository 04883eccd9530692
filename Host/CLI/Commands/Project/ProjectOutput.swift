import FoundationEssentials
import Model
import Warehouse

extension JSONValue {
    /// Makes a project's JSON.
    /// - Parameter size: the project's size in bytes.
    init(_ project: ProjectSnapshot, size: UInt64) {
        var members: [Member] = [
            Member(name: "id", value: .string("\(project.id)")),
            Member(name: "bundleID", value: .string(project.bundleID)),
            Member(name: "created", value: .time(Timestamp(project.creationDate))),
            Member(name: "modified", value: .time(Timestamp(project.modificationDate))),
            Member(name: "stepCursor", value: .integer(project.stepCursor)),
            Member(name: "steps", value: project.stepIDs.map { .strings($0.map(\.description)) } ?? .null),
            Member(name: "canUndo", value: .bool(project.canUndo)),
            Member(name: "canRedo", value: .bool(project.canRedo)),
            Member(name: "size", value: .integer(Int64(clamping: size))),
            Member(name: "assets", value: .string(project.assets)),
        ]
        if let userData = project.userData { members.append(Member(name: "userData", value: .base64(userData))) }
        self = .object(members)
    }

    init(_ step: Step) {
        self = .object([
            "id": .string("\(step.id)"), "project": .string("\(step.projectID)"), "userData": .base64(step.userData),
            "assets": .string(step.assets),
        ])
    }

    private static func base64(_ bytes: [UInt8]) -> JSONValue { .string(Data(bytes).base64EncodedString()) }
}

extension Timestamp {
    init(_ date: ProjectDate) { self.init(nanoseconds: date.nanoseconds) }
}
