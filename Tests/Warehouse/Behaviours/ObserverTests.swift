import Testing
import Warehouse

extension OriginalBehaviours {
    @Suite struct ObserverTests {
        private let fixture: StorageFixture
        private let storage: ProjectStorage
        private let observer = Recorder()
        private let second = Recorder()
        private let project: ProjectID

        init() throws {
            fixture = try StorageFixture()
            storage = fixture.storage()
            project = try storage.createProject()
            storage.addObserver(observer)
        }

        @Test("W behaviour 55: an observer hears what was created, with the storage and the ids")
        func created() throws {
            let id = try storage.createProject()
            #expect(observer.events == [.created(id)])
            #expect(observer.hasHeardOnly(of: storage))
        }

        @Test("W behaviour 56: an observer that was removed does not hear what was created")
        func createdAfterRemoval() throws {
            storage.removeObserver(observer)
            _ = try storage.createProject()
            #expect(observer.events == [])
        }

        @Test("W behaviour 57: two observers both hear what was created")
        func createdForTwo() throws {
            storage.addObserver(second)
            let id = try storage.createProject()
            #expect(observer.events == [.created(id)])
            #expect(second.events == [.created(id)])
        }

        @Test("W behaviour 58: an observer hears what was duplicated, with the storage and the ids")
        func duplicated() throws {
            let id = try storage.duplicateProject(project)
            #expect(observer.events == [.duplicated(project, as: id)])
            #expect(observer.hasHeardOnly(of: storage))
        }

        @Test("W behaviour 59: an observer that was removed does not hear what was duplicated")
        func duplicatedAfterRemoval() throws {
            storage.removeObserver(observer)
            _ = try storage.duplicateProject(project)
            #expect(observer.events == [])
        }

        @Test("W behaviour 60: two observers both hear what was duplicated")
        func duplicatedForTwo() throws {
            storage.addObserver(second)
            let id = try storage.duplicateProject(project)
            #expect(observer.events == [.duplicated(project, as: id)])
            #expect(second.events == [.duplicated(project, as: id)])
        }

        @Test("W behaviour 61: an observer hears what was deleted, with the storage and the ids")
        func deleted() throws {
            try storage.deleteProject(project)
            #expect(observer.events == [.deleted(project)])
            #expect(observer.hasHeardOnly(of: storage))
        }

        @Test("W behaviour 62: an observer that was removed does not hear what was deleted")
        func deletedAfterRemoval() throws {
            storage.removeObserver(observer)
            try storage.deleteProject(project)
            #expect(observer.events == [])
        }

        @Test("W behaviour 63: two observers both hear what was deleted")
        func deletedForTwo() throws {
            storage.addObserver(second)
            try storage.deleteProject(project)
            #expect(observer.events == [.deleted(project)])
            #expect(second.events == [.deleted(project)])
        }

        @Test("W behaviour 64: an observer hears what was updated, with the storage and the ids")
        func updated() throws {
            try storage.updateProject(ProjectUpdateRequest(projectID: project, userData: [1]))
            #expect(observer.events == [.updated(project)])
            #expect(observer.hasHeardOnly(of: storage))
        }

        @Test("W behaviour 65: an observer that was removed does not hear what was updated")
        func updatedAfterRemoval() throws {
            storage.removeObserver(observer)
            try storage.updateProject(ProjectUpdateRequest(projectID: project, userData: [1]))
            #expect(observer.events == [])
        }

        @Test("W behaviour 66: two observers both hear what was updated")
        func updatedForTwo() throws {
            storage.addObserver(second)
            try storage.updateProject(ProjectUpdateRequest(projectID: project, userData: [1]))
            #expect(observer.events == [.updated(project)])
            #expect(second.events == [.updated(project)])
        }
    }
}
