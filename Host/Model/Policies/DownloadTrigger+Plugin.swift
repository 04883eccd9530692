extension PluginID {
    /// Creates the id of the plugin whose copies have a trigger.
    public init(of trigger: DownloadTrigger) {
        self = trigger == .availableOffline ? PluginID(shortOrFull: "available-offline") : PluginID(trigger.text)
    }
}

extension DownloadTrigger {
    /// Creates the trigger of the copies that a plugin requests.
    public init(of plugin: PluginID) {
        self = plugin == PluginID(shortOrFull: "available-offline") ? .availableOffline : DownloadTrigger(plugin.text)
    }
}
