package import Logging

extension Logger {
    /// Returns the logger for a component of the host, whose name stands in each of its lines.
    package func of(_ component: String) -> Logger {
        var logger = self
        logger[metadataKey: "component"] = "\(component)"
        return logger
    }
}
