import Connection
import Model
import TestSupport
import Testing

@testable import ItemList

@Suite struct ScanFailuresTests {
    private func kinds(_ failed: [ItemPath: ConnectionError], isCutOff: Bool = false) -> [Failure.Kind] {
        var outcome = ItemListUpdate.Outcome(isComplete: false, isCutOff: isCutOff)
        outcome.failed = failed
        return outcome.failures.map(\.kind)
    }

    @Test(
        "H1: one folder's error does not mean that the server cannot be reached; the root's does, or a scan's end",
        arguments: [500, 503, 504])
    func kinds(_ status: Int) throws {
        let error = ConnectionError(.serverError, "x", status: status)
        let folder = try ItemPath("/a")
        #expect(kinds([folder: error]) == [.failed])
        #expect(kinds([folder: error], isCutOff: true) == [.unreachable])
        #expect(kinds([folder: error, .root: error]) == [.unreachable, .unreachable])
        #expect(kinds([folder: ConnectionError(.unreachable, "x")]) == [.unreachable])
        var closed = ConnectionError(.unreachable, "x")
        closed.isClosed = true
        #expect(kinds([folder: closed]) == [.failed])
        #expect(kinds([folder: closed], isCutOff: true) == [.unreachable])
        #expect(kinds([folder: ConnectionError(.forbidden, "x", status: 403)]) == [.denied])
        #expect(kinds([folder: ConnectionError(.protocolViolation, "x")]) == [.protocolViolation])
    }
}
