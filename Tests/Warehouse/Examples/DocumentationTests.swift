import FoundationEssentials
import TestSupport
import Testing
import Warehouse

@Suite struct DocumentationTests {
    @Test("W09: the examples of the documentation do what they say")
    func examples() throws {
        let fixture = try StorageFixture()
        let storage = fixture.storage()
        let id = try storage.createProject()
        func current() throws -> String {
            let userData = try storage.fetchProject(id, .userData).userData ?? []
            return try JSONDecoder().decode(ProjectData.self, from: Data(userData)).currentStep
        }
        for description in ["crop", "100% more contrast", "a naïve filter"] {
            try addStep(description, thumbnail: Data(description.utf8), to: id, in: storage)
            #expect(try current() == description)
        }
        let steps = try storage.stepIDs(of: id)
        #expect(
            try Files.text("\(storage.fetchStep(steps[1], of: id).assets)/thumbnail.png") == "100% more contrast")
        #expect(try undo(id, in: storage))
        #expect(try current() == "100% more contrast")
        #expect(try undo(id, in: storage))
        #expect(try undo(id, in: storage))
        #expect(try current() == "nothing done yet")
        #expect(try !undo(id, in: storage))
        #expect(try storage.stepIDs(of: id) == steps)
        try addStep("another way", thumbnail: Data(), to: id, in: storage)
        #expect(try storage.stepIDs(of: id).count == 1)
    }

    @Test("W09: the code in the documentation is that of the examples, to the letter")
    func sameText() throws {
        let page = try Files.text("\(Build.root)/Host/Docs/project-storage.md")
        let example = try Files.text("\(Build.root)/Tests/Warehouse/Examples/Editor.swift")
        let blocks = page.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        let code = blocks.filter { !$0.contains(".package(") }
        #expect(code.count == 3)
        for block in code { #expect(example.contains(block), "\(block)") }
    }
}
