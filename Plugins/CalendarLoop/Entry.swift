public import LarderSDK

@c @implementation
public func larder_plugin_entry_v1(_ hostMinor: UInt32, _ module: ModulePointer) -> larder_status {
    export(CalendarLoop.self, to: module)
}
