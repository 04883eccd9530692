import Model
import TestSupport
import Testing

@testable import Core
@testable import PluginHost

@Suite struct AwayProjectsTests {
    @Test("While the vault is away a plugin writes no project in its place, and later what it had is there")
    func away() async throws {
        try await AccountFixture.running { fixture in
            let plugin = PluginID("org.example.keeper")
            let projects = try #require(fixture.host.plugins.first?.account.projects)
            let project = try projects.create(for: plugin)
            let (vault, elsewhere) = (fixture.bookmark.vault, fixture.bookmark.vault + ".elsewhere")
            try await mustRun("mv", [vault, elsewhere])
            for isMounted in [false, true] {
                // Only the mount point, an empty folder, is left.
                if isMounted { try Files.makeFolder(vault) }
                let writes: [() throws -> Void] = [
                    { _ = try projects.create(for: plugin) },
                    { _ = try projects.duplicate(project, of: plugin) },
                    { try projects.remove(project, of: plugin) },
                ]
                for write in writes {
                    let error = #expect(throws: ServiceError.self) { try write() }
                    #expect(
                        error?.message.contains("was moved") == true, "\(error as Any)")
                }
                #expect(try !isMounted || Files.names(in: vault) == [])
            }
            Files.remove(vault)
            try await mustRun("mv", [elsewhere, vault])
            #expect(try projects.projects(of: plugin, PluginProjectOrder()) == [project])
            let copy = try projects.duplicate(project, of: plugin)
            #expect(try Set(projects.projects(of: plugin, PluginProjectOrder())) == [project, copy])
        }
    }
}
