import CLarder
import LarderFakeHost
import Model
import TestSupport
import Testing

/// Tests of the items on the fake host's stage.
@Suite struct StageTests {
    @Test("A copy without an ETag is out of date on the stage only if the test says so", arguments: [nil, 0, 1])
    func remoteVersion(_ version: UInt32?) async throws {
        try await withTemporaryFolder { folder in
            try await CompiledPlugin.build("wilful", to: "\(folder)/wilful.so")
            let fixture = try PluginFixture(library: "\(folder)/wilful.so")
            withView(of: .file("/a", here: "user")) { whole in
                var item = whole.pointee
                item.present &= ~(1 << UInt64(LARDER_FIELD_ETAG))
                item.present &= ~(1 << UInt64(LARDER_FIELD_REMOTE_VERSION))
                if let version {
                    item.present |= 1 << UInt64(LARDER_FIELD_REMOTE_VERSION)
                    item.remote_version = version
                }
                larder_fake_put_item(fixture.fake, &item)
            }
            let settings = #"{"match": "remoteVersion == \"newer\""}"#
            #expect(fixture.start("org.example.wilful", settings: settings) == LARDER_OK, "\(fixture.problem ?? "")")
            #expect(fixture.run(.itemListUpdateCompleted) == LARDER_OK)
            #expect(fixture.actions.count == (version == LARDER_REMOTE_VERSION_NEWER ? 1 : 0))
        }
    }
}
