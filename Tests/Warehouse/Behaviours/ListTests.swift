import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct ListTests {
        private let fixture: StorageFixture

        init() throws { fixture = try StorageFixture() }

        @Test("W behaviour 9: the list has exactly what was created")
        func all() throws {
            let storage = fixture.storage()
            let created = try (0..<3).map { _ in try storage.createProject() }
            #expect(try Set(storage.projectIDs()) == Set(created))
            #expect(try storage.projectIDs().count == 3)
        }

        @Test("W behaviour 10: the list is empty when all were deleted")
        func empty() throws {
            let storage = fixture.storage()
            for id in try (0..<2).map({ _ in try storage.createProject() }) { try storage.deleteProject(id) }
            #expect(try storage.projectIDs() == [])
        }

        @Test("W behaviour 11: with an invalid base folder it is a failed fetch")
        func invalidBase() throws {
            let storage = ProjectStorage(base: try fixture.invalidBase, bundleID: "org.example.editor")
            #expect(failure { () throws(ProjectError) in try storage.projectIDs() }?.code == .fetchFailed)
        }

        @Test("W behaviour 12: by creation date, the latest first")
        func creationDescending() throws {
            let (storage, ids) = try dated { try $0.setCreationDate($1, of: $2) }
            #expect(try storage.projectIDs(sortedBy: .creationDate, descending: true) == ids.reversed())
        }

        @Test("W behaviour 13: by creation date, the earliest first")
        func creationAscending() throws {
            let (storage, ids) = try dated { try $0.setCreationDate($1, of: $2) }
            #expect(try storage.projectIDs(sortedBy: .creationDate, descending: false) == ids)
        }

        @Test("W behaviour 14: by modification date, the latest first")
        func modificationDescending() throws {
            let (storage, ids) = try dated { try $0.setModificationDate($1, of: $2) }
            #expect(try storage.projectIDs(sortedBy: .modificationDate, descending: true) == ids.reversed())
        }

        @Test("W behaviour 15: by modification date, the earliest first")
        func modificationAscending() throws {
            let (storage, ids) = try dated { try $0.setModificationDate($1, of: $2) }
            #expect(try storage.projectIDs(sortedBy: .modificationDate, descending: false) == ids)
        }

        /// Makes five projects whose dates are 0 to 4 seconds after 1970. The ids are returned in the order of the
        /// dates, which is not the order of creation.
        private func dated(
            _ set: (ProjectStorage, ProjectDate, ProjectID) throws -> Void
        ) throws -> (ProjectStorage, [ProjectID]) {
            let storage = fixture.storage()
            let created = try (0..<5).map { _ in try storage.createProject() }
            let ids = [3, 0, 4, 2, 1].map { created[$0] }
            for (second, id) in ids.enumerated() {
                try set(storage, ProjectDate(nanoseconds: Int64(second) * 1_000_000_000), id)
            }
            return (storage, ids)
        }
    }
}
