import CLarder
import FakeHost
import LarderFakeHost
import Model
import PluginHost

/// The check that a processor comes to rest: its requests are done, as a host does them, and the next runs ask for
/// nothing.
struct RestCheck {
    private let site: CheckSite
    private let plugin: PluginCase
    private let stage: Stage
    private static let count = 120

    init(_ site: CheckSite, _ plugin: PluginCase) throws {
        (self.site, self.plugin) = (site, plugin)
        stage = try Stage.processor(site, plugin)
        var random = site.random()
        // Nobody keeps the copies from being removed.
        stage.put(
            StageItem.some(Self.count, &random).map { item in
                var item = item
                item.claims = 0
                return item
            })
    }

    func make() throws -> CheckOutcome {
        // What is done may make something else to do; that ends too. With a maximum, a round does no more than that.
        let rounds = 6 + (stage.access.maximumRecords.map { 3 * Self.count / max(1, $0) } ?? 0)
        var last: Stage.Entry?
        for round in 1...rounds {
            last = nil
            for trigger in stage.triggers {
                site.now("round \(round) of runs after its requests were done, the trigger \(trigger.name)")
                stage.run(trigger)
                let requests = stage.requests
                last = requests.first ?? last
                for request in requests { carryOut(request) }
                stage.forget()
            }
            if last == nil { return .passed }
        }
        guard let last else { return .passed }
        throw stage.finding(
            "it does not come to rest: after \(rounds) rounds of runs, in which all its requests were done, it asks for "
                + "\(last)", item: last.path)
    }

    /// Does a request, as far as a host would. Policies and values are done by the stage.
    private func carryOut(_ request: Stage.Entry) {
        guard request.kind == LARDER_FAKE_ACTION, let id = request.id,
            let index = stage.items.firstIndex(where: { $0.localID == id })
        else { return create(request) }
        let item = stage.items[index]
        switch request.name {
        case "download":
            guard !item.isRemoved else { return }
            stage.change(at: index) { item in
                if item.cloudStatus == LARDER_CLOUD_STATUS_CLOUD_ONLY {
                    item.cloudStatus = LARDER_CLOUD_STATUS_LOCAL_COPY
                }
                if item.cloudStatus == LARDER_CLOUD_STATUS_LOCAL_COPY { item.isNewerRemote = false }
                item.downloadTrigger = DownloadTrigger(of: plugin.id).text
            }
        case "remove_local_copy":
            // A copy that has changes stays.
            guard item.cloudStatus == LARDER_CLOUD_STATUS_LOCAL_COPY else { return }
            stage.change(at: index) { item in
                (item.cloudStatus, item.downloadTrigger) = (LARDER_CLOUD_STATUS_CLOUD_ONLY, nil)
                (item.isNewerRemote, item.lastUsed) = (false, nil)
            }
        case "purge":
            guard item.isRemoved, item.cloudStatus != LARDER_CLOUD_STATUS_LOCALLY_MODIFIED else { return }
            stage.remove(at: index)
        case "set_favorite": stage.change(at: index) { $0.isFavorite = request.number == 1 }
        case "remove_from_server": stage.remove(at: index)
        case "move":
            guard let target = request.target else { return }
            stage.change(at: index) { $0.path = target }
        case "copy":
            guard let target = request.target else { return }
            var copy = item
            (copy.localID, copy.path) = ("copy-\(target)", target)
            (copy.cloudStatus, copy.downloadTrigger) = (LARDER_CLOUD_STATUS_CLOUD_ONLY, nil)
            put(copy)
        default: break
        }
    }

    /// Makes what a request makes on the server.
    private func create(_ request: Stage.Entry) {
        guard let target = request.target else { return }
        switch request.name {
        case "create_folder": put(StageItem(localID: "made-\(target)", path: target, isFolder: true))
        case "upload": put(StageItem(localID: "made-\(target)", path: target, size: 1))
        default: break
        }
    }

    private func put(_ item: StageItem) {
        guard !stage.items.contains(where: { $0.path == item.path }) else { return }
        stage.put([item])
    }
}
