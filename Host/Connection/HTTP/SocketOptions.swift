import Glibc
import NIOCore

/// What connections are given beyond the library's defaults.
enum SocketOptions {
    static func set(on channel: any Channel) -> EventLoopFuture<Void> {
        // Each connection keeps a few buffers of the largest size. Larger ones gain nothing and cost memory, and those from 128 KiB on
        // would be mapped and given back for each read.
        let reads = AdaptiveRecvByteBufferAllocator(minimum: 4_096, initial: 32_768, maximum: 65_536)
        let settings = [
            // A peer that vanished is noticed within 30 s + 3 × 10 s, however long its answer may take.
            channel.setOption(.socketOption(.so_keepalive), value: 1),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPIDLE)), value: 30),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: 10),
            channel.setOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: 3),
            channel.setOption(.recvAllocator, value: reads),
        ]
        return EventLoopFuture.andAllSucceed(settings, on: channel.eventLoop)
    }
}
