import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct UpdateTests {
        private let fixture: StorageFixture
        private let storage: ProjectStorage
        private let id: ProjectID

        init() throws {
            fixture = try StorageFixture()
            storage = fixture.storage()
            id = try storage.createProject()
        }

        private func update(_ change: (inout ProjectUpdateRequest) -> Void) throws(ProjectError) {
            var request = ProjectUpdateRequest(projectID: id)
            change(&request)
            try storage.updateProject(request)
        }

        /// Adds two steps without moving the cursor.
        private func twoSteps() throws -> [StepID] {
            try update { $0.stepsToAdd = [StepContent(userData: [1]), StepContent(userData: [2])] }
            let steps = try storage.stepIDs(of: id)
            try #require(steps.count == 2)
            return steps
        }

        @Test("W behaviour 25: adding a step makes one id")
        func addOne() throws {
            try update { $0.stepsToAdd = [StepContent()] }
            #expect(try storage.stepIDs(of: id).count == 1)
        }

        @Test("W behaviour 26: the step's user data are those given")
        func stepUserData() throws {
            try update { $0.stepsToAdd = [StepContent(userData: [1, 2, 3])] }
            #expect(try storage.fetchStep(#require(storage.stepIDs(of: id).first), of: id).userData == [1, 2, 3])
        }

        @Test("W behaviour 27: the assets are the step's, and their source is gone")
        func assets() throws {
            let source = try fixture.source(["thumbnail.png": "picture", "more/100%.txt": "text"])
            try update { $0.stepsToAdd = [StepContent(assetsSource: source)] }
            let step = try storage.fetchStep(#require(storage.stepIDs(of: id).first), of: id)
            #expect(try Files.filesBelow(step.assets) == ["more/100%.txt", "thumbnail.png"])
            #expect(try Files.text("\(step.assets)/more/100%.txt") == "text")
            #expect(!Files.exists(source))
        }

        @Test("W behaviour 28: two steps at once, one of them without assets")
        func addTwo() throws {
            let source = try fixture.source()
            try update { $0.stepsToAdd = [StepContent(assetsSource: source), StepContent()] }
            let steps = try storage.stepIDs(of: id).map { try storage.fetchStep($0, of: id) }
            #expect(try steps.map { try Files.names(in: $0.assets) } == [["thumbnail.png"], []])
        }

        @Test("W behaviour 29: an empty list of steps to add changes none")
        func addNone() throws {
            let steps = try twoSteps()
            try update { $0.stepsToAdd = [] }
            #expect(try storage.stepIDs(of: id) == steps)
        }

        @Test("W behaviour 30: a source of assets that is not there is a failed write")
        func invalidAssets() throws {
            let missing = "\(fixture.folder)/missing"
            let error = failure { () throws(ProjectError) in
                try update { $0.stepsToAdd = [StepContent(assetsSource: missing)] }
            }
            #expect(error?.code == .writeFailed)
            #expect(try storage.stepIDs(of: id) == [])
        }

        @Test("W behaviour 31: deleting the first of two leaves the second")
        func deleteFirst() throws {
            let steps = try twoSteps()
            try update { $0.stepIDsToDelete = [steps[0]] }
            #expect(try storage.stepIDs(of: id) == [steps[1]])
            #expect(try fixture.stepFolders(of: id) == ["\(steps[1])"])
        }

        @Test("W behaviour 32: deleting all leaves none")
        func deleteAll() throws {
            let steps = try twoSteps()
            try update { $0.stepIDsToDelete = steps }
            #expect(try storage.stepIDs(of: id) == [])
            #expect(try fixture.stepFolders(of: id) == [])
        }

        @Test("W behaviour 33: deleting an unknown step changes nothing")
        func deleteUnknown() throws {
            let steps = try twoSteps()
            try update { $0.stepIDsToDelete = [StepID()] }
            #expect(try storage.stepIDs(of: id) == steps)
        }

        @Test("W behaviour 34: the cursor moves with the step that is added")
        func cursor() throws {
            try update {
                $0.stepsToAdd = [StepContent()]
                $0.stepCursor = 1
            }
            #expect(try storage.fetchProject(id).stepCursor == 1)
        }

        @Test("W behaviour 35: an update by a storage with another bundle id keeps the creator's")
        func bundleID() throws {
            try fixture.storage(bundleID: "org.example.other").updateProject(
                ProjectUpdateRequest(projectID: id, userData: [1]))
            #expect(try storage.fetchProject(id).bundleID == "org.example.editor")
        }

        @Test("W behaviour 36: without a cursor it stays")
        func noCursor() throws {
            try update {
                $0.stepsToAdd = [StepContent()]
                $0.stepCursor = 1
            }
            try update { $0.userData = [1] }
            #expect(try storage.fetchProject(id).stepCursor == 1)
        }

        @Test("W behaviour 37: a cursor past the steps is an invalid argument")
        func cursorPastEnd() throws {
            let before = try storage.fetchProject(id, .all)
            let error = failure { () throws(ProjectError) in try update { $0.stepCursor = 1 } }
            #expect(error?.code == .invalidArgument)
            #expect(try storage.fetchProject(id, .all) == before)
        }

        @Test("W behaviour 38: user data are replaced")
        func userData() throws {
            try update { $0.userData = [1] }
            try update { $0.userData = [2, 3] }
            #expect(try storage.fetchProject(id, .userData).userData == [2, 3])
        }

        @Test("W behaviour 39: without user data they stay")
        func noUserData() throws {
            try update { $0.userData = [1] }
            try update { $0.stepsToAdd = [StepContent()] }
            #expect(try storage.fetchProject(id, .userData).userData == [1])
        }
    }
}
