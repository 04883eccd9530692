extension Host {
    /// Returns the plugin's settings: an object with a member for each property of its schema. It is empty if the
    /// service is withheld.
    ///
    /// ```swift
    /// let years = try host.settings()["years"]?.integer ?? 5
    /// ```
    /// - Throws: ``Status/wrongThread`` on another thread than that of the current call.
    public func settings() throws(PluginError) -> JSON {
        guard let table = table(.config, as: larder_config.self) else { return .object([]) }
        var text = larder_str()
        try Status.check(table.pointee.settings(pointer, &text), "config")
        return try JSON(parsing: Text(unsafe: text).utf8)
    }
}
