public import Model
extension Connection { public func hints() -> AsyncStream<HintSet> { AsyncStream { $0.finish() } } }
