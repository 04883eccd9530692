import FoundationEssentials
import Model
import Warehouse

extension JSON {
    /// - Parameter size: in bytes.
    init(_ project: ProjectSnapshot, size: UInt64) {
        var members: [Member] = [
            Member(name: "id", value: .text("\(project.id)")),
            Member(name: "bundleID", value: .text(project.bundleID)),
            Member(name: "created", value: .time(Timestamp(project.creationDate))),
            Member(name: "modified", value: .time(Timestamp(project.modificationDate))),
            Member(name: "stepCursor", value: .int(project.stepCursor)),
            Member(name: "steps", value: project.stepIDs.map { .texts($0.map(\.description)) } ?? .null),
            Member(name: "canUndo", value: .bool(project.canUndo)),
            Member(name: "canRedo", value: .bool(project.canRedo)),
            Member(name: "size", value: .int(Int64(clamping: size))),
            Member(name: "assets", value: .text(project.assets)),
        ]
        if let userData = project.userData { members.append(Member(name: "userData", value: .base64(userData))) }
        self = .object(members)
    }

    init(_ step: Step) {
        self = .object([
            "id": .text("\(step.id)"), "project": .text("\(step.projectID)"), "userData": .base64(step.userData),
            "assets": .text(step.assets),
        ])
    }

    private static func base64(_ bytes: [UInt8]) -> JSON { .text(Data(bytes).base64EncodedString()) }
}

extension Timestamp {
    init(_ date: ProjectDate) { self.init(nanoseconds: date.nanoseconds) }
}
