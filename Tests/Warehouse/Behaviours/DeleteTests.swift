import TestSupport
import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct DeleteTests {
        private let fixture: StorageFixture

        init() throws { fixture = try StorageFixture() }

        @Test("W behaviour 21: a deleted project is gone from the list")
        func gone() throws {
            let storage = fixture.storage()
            let id = try storage.project(steps: 1)
            try storage.deleteProject(id)
            #expect(try storage.projectIDs() == [])
            #expect(try Files.names(in: fixture.base) == [".lock", ".staging"])
            #expect(try Files.names(in: "\(fixture.base)/.staging") == [])
        }

        @Test("W behaviour 22: another project stays")
        func other() throws {
            let storage = fixture.storage()
            let (id, other) = (try storage.createProject(), try storage.createProject())
            try storage.deleteProject(id)
            #expect(try storage.projectIDs() == [other])
        }

        @Test("W behaviour 23: deleting an unknown project fails")
        func unknown() {
            let storage = fixture.storage()
            #expect(
                failure { () throws(ProjectError) in try storage.deleteProject(ProjectID()) }?.code == .deleteFailed)
        }

        @Test("W behaviour 24: with an invalid base folder deleting fails")
        func invalidBase() throws {
            let storage = ProjectStorage(base: try fixture.invalidBase, bundleID: "org.example.editor")
            #expect(
                failure { () throws(ProjectError) in try storage.deleteProject(ProjectID()) }?.code == .deleteFailed)
        }
    }
}
