import Storage
extension Vault { func writeCalendarFiles() throws {} }
