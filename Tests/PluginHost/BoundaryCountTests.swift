import CLarder
import Model
import TestSupport
import Testing

@testable import PluginHost

/// Tests of the counts, strides and times that a plugin writes into its requests.
@Suite struct BoundaryCountTests {
    static let mostCounts: [UInt64] = BoundaryNumbers.integers.map { UInt64(bitPattern: $0) }.filter { $0 > 65 }

    @Test("H12: counts that no list has are refused before anything is read", arguments: BoundaryCountTests.mostCounts)
    func counts(_ count: UInt64) {
        var header = larder_http_header()
        var names = larder_str()
        withUnsafeMutablePointer(to: &header) { header in
            var request = larder_http_request()
            request.struct_size = UInt32(MemoryLayout<larder_http_request>.size)
            request.header_stride = .max
            (request.headers, request.header_count) = (UnsafePointer(header), count)
            withText { text in
                (request.method, request.target) = (text, text)
                #expect(throws: ServiceError.self) { try PlainRequest(reading: &request) }
            }
        }
        withUnsafeMutablePointer(to: &names) { names in
            var request = larder_dav_request()
            request.struct_size = UInt32(MemoryLayout<larder_dav_request>.size)
            (request.properties, request.property_count) = (UnsafePointer(names), count)
            withText { text in
                (request.method, request.target) = (text, text)
                #expect(throws: ServiceError.self) { try MultistatusRequest.reading(&request) }
            }
        }
        var query = larder_query()
        query.struct_size = UInt32(MemoryLayout<larder_query>.size)
        (query.limit, query.fields) = (count, count)
        withText { text in
            query.condition = text
            let read = try? PluginQuery(reading: &query)
            #expect(read.map { ($0.limit ?? 0) > 0 } == true)
        }
        #expect(larder_str(ptr: nil, len: count).text == nil && larder_bytes(ptr: nil, len: count).copied == nil)
    }

    @Test("H12: bounds and defaults of settings are any number", arguments: BoundaryNumbers.texts)
    func settings(_ text: String) throws {
        for type in ["integer", "number"] {
            let schema = try? ConfigSchema(
                parsing: #"{"properties":{"a":{"type":"\#(type)","minimum":\#(text),"maximum":\#(text)}}}"#)
            _ = try? schema?.settings(from: #"{"a":\#(text)}"#)
        }
        for (format, unit) in [("duration", "ms"), ("duration", "d"), ("size", "B"), ("size", "TiB")] {
            let schema = try ConfigSchema(
                parsing: #"{"properties":{"a":{"type":"string","format":"\#(format)"}}}"#)
            _ = try? schema.settings(from: #"{"a":"\#(text)\#(unit)"}"#)
        }
    }

    private func withText(_ body: (larder_str) -> Void) {
        Array("PROPFIND".utf8).withUnsafeBufferPointer { body(larder_str(borrowing: $0)) }
    }
}
