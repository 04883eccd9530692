extension PluginID {
    /// The plugin whose copies have a trigger.
    public init(of trigger: DownloadTrigger) {
        self = trigger == .availableOffline ? PluginID(shortOrFull: "available-offline") : PluginID(trigger.text)
    }
}

extension DownloadTrigger {
    /// The trigger of copies that a plugin asked for.
    public init(of plugin: PluginID) {
        self = plugin == PluginID(shortOrFull: "available-offline") ? .availableOffline : DownloadTrigger(plugin.text)
    }
}
