import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct DateTests {
        private let fixture: StorageFixture
        private let storage: ProjectStorage
        private let id: ProjectID

        init() throws {
            fixture = try StorageFixture()
            storage = fixture.storage()
            id = try storage.createProject()
        }

        @Test("W behaviour 51: a creation date that was set reads back as it is")
        func creation() throws {
            let date = ProjectDate(nanoseconds: try storage.fetchProject(id).creationDate.nanoseconds - 5_000_000_000)
            try storage.setCreationDate(date, of: id)
            #expect(try storage.fetchProject(id).creationDate == date)
        }

        @Test("W behaviour 52: the creation date of an unknown project is a failed write")
        func unknownCreation() {
            let error = failure { () throws(ProjectError) in try storage.setCreationDate(.now(), of: ProjectID()) }
            #expect(error?.code == .writeFailed)
        }

        @Test("W behaviour 53: a modification date that was set reads back as it is")
        func modification() throws {
            let date = ProjectDate(
                nanoseconds: try storage.fetchProject(id).modificationDate.nanoseconds - 5_000_000_000)
            try storage.setModificationDate(date, of: id)
            #expect(try storage.fetchProject(id).modificationDate == date)
        }

        @Test("W behaviour 54: the modification date of an unknown project is a failed write")
        func unknownModification() {
            let error = failure { () throws(ProjectError) in try storage.setModificationDate(.now(), of: ProjectID()) }
            #expect(error?.code == .writeFailed)
        }
    }
}
