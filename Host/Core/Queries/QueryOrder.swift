import Model

/// The ids of a list in its order. The position of an id, and the id at a position, are found in logarithmic time, and an id
/// is put in or taken out in about that time. An id takes some 20 bytes.
///
/// The ids lie in chunks, in the order of the list. A second row of chunks, sorted by the ids' numbers, names the chunk
/// in which each id lies.
struct QueryOrder: Sendable {
    /// The largest number of ids in a chunk.
    static let largest = 1_024

    /// Some ids of the list, one after the other.
    private struct Chunk: Sendable {
        /// The number by which the index names the chunk.
        var number: Int32
        var ids: [ItemRowID]
    }

    private var chunks: [Chunk] = []
    /// The number of ids in each chunk.
    private var counts: [Int] = []
    /// The index of each chunk, by its number.
    private var slots: [Int32] = []
    private var index = ChunkIndex()
    /// The number of ids.
    private(set) var count = 0

    init() {}

    /// Creates a list of ids, each of which occurs once.
    init(_ ids: [ItemRowID]) {
        var numbers: [(id: ItemRowID, chunk: Int32)] = []
        numbers.reserveCapacity(ids.count)
        for start in stride(from: 0, to: ids.count, by: Self.largest / 2) {
            let number = Int32(chunks.count)
            let part = Array(ids[start..<min(start + Self.largest / 2, ids.count)])
            numbers += part.map { ($0, number) }
            chunks.append(Chunk(number: number, ids: part))
            counts.append(part.count)
            slots.append(number)
        }
        numbers.sort { $0.id < $1.id }
        index = ChunkIndex(numbers)
        count = ids.count
    }

    /// The ids in their order.
    var ids: [ItemRowID] { chunks.flatMap(\.ids) }

    /// Returns the ids at positions, which the list must have.
    func ids(in positions: Range<Int>) -> [ItemRowID] {
        guard !positions.isEmpty else { return [] }
        var (chunk, offset) = find(positions.lowerBound)
        var ids: [ItemRowID] = []
        ids.reserveCapacity(positions.count)
        while ids.count < positions.count {
            ids += chunks[chunk].ids[offset...].prefix(positions.count - ids.count)
            (chunk, offset) = (chunk + 1, 0)
        }
        return ids
    }

    /// Returns the id at a position, which the list must have.
    func id(at position: Int) -> ItemRowID {
        let (chunk, offset) = find(position)
        return chunks[chunk].ids[offset]
    }

    /// Returns the position of an id; nil if the list does not have it.
    func position(of id: ItemRowID) -> Int? {
        guard let number = index[id] else { return nil }
        let slot = Int(slots[Int(number)])
        guard let offset = chunks[slot].ids.firstIndex(of: id) else { return nil }
        return counts[..<slot].reduce(0, +) + offset
    }

    /// Takes an id out, if the list has it.
    mutating func remove(_ id: ItemRowID) {
        guard let number = index.remove(id) else { return }
        let slot = Int(slots[Int(number)])
        guard let offset = chunks[slot].ids.firstIndex(of: id) else { return }
        chunks[slot].ids.remove(at: offset)
        counts[slot] -= 1
        count -= 1
        // Chunks that became small are joined.
        if max(chunks.count, index.partCount) > 8 + 8 * count / Self.largest { self = QueryOrder(ids) }
    }

    /// Puts an id in that the list does not have.
    /// - Parameter position: The position of the id afterwards, at most the number of ids.
    mutating func insert(_ id: ItemRowID, at position: Int) {
        if chunks.isEmpty {
            slots.append(0)
            chunks.append(Chunk(number: Int32(slots.count - 1), ids: []))
            counts.append(0)
        }
        // Between two chunks, the id goes to the end of the first.
        let (chunk, offset) = position == 0 ? (0, 0) : { ($0.chunk, $0.offset + 1) }(find(position - 1))
        chunks[chunk].ids.insert(id, at: offset)
        counts[chunk] += 1
        count += 1
        index.set(id, to: chunks[chunk].number)
        if counts[chunk] > Self.largest { split(chunk) }
    }

    private mutating func split(_ chunk: Int) {
        let half = counts[chunk] / 2
        let moved = Array(chunks[chunk].ids[half...])
        let number = Int32(slots.count)
        chunks[chunk].ids.removeLast(moved.count)
        counts[chunk] = half
        chunks.insert(Chunk(number: number, ids: moved), at: chunk + 1)
        counts.insert(moved.count, at: chunk + 1)
        slots.append(0)
        for slot in (chunk + 1)..<chunks.count { slots[Int(chunks[slot].number)] = Int32(slot) }
        for id in moved { index.set(id, to: number) }
    }

    /// Returns the chunk that holds a position, and the offset in the chunk.
    private func find(_ position: Int) -> (chunk: Int, offset: Int) {
        var (chunk, before) = (0, 0)
        while before + counts[chunk] <= position {
            before += counts[chunk]
            chunk += 1
        }
        return (chunk, position - before)
    }
}

/// The numbers of the chunks in which ids lie, sorted by the ids.
private struct ChunkIndex: Sendable {
    private struct Part: Sendable {
        var ids: [ItemRowID] = []
        var numbers: [Int32] = []
    }

    /// Never empty.
    private var parts = [Part()]
    /// The lowest id that belongs to each part but the first.
    private var bounds: [ItemRowID] = []

    init() {}

    var partCount: Int { parts.count }

    /// Creates an index of ids that come in ascending order.
    init(_ numbers: [(id: ItemRowID, chunk: Int32)]) {
        guard !numbers.isEmpty else { return }
        parts = stride(from: 0, to: numbers.count, by: QueryOrder.largest / 2).map { start in
            let part = numbers[start..<min(start + QueryOrder.largest / 2, numbers.count)]
            return Part(ids: part.map(\.id), numbers: part.map(\.chunk))
        }
        bounds = parts.dropFirst().map { $0.ids[0] }
    }

    subscript(id: ItemRowID) -> Int32? {
        let part = parts[self.part(of: id)]
        let offset = part.ids.partitioningIndex { $0 >= id }
        return offset < part.ids.count && part.ids[offset] == id ? part.numbers[offset] : nil
    }

    private func part(of id: ItemRowID) -> Int { bounds.partitioningIndex { $0 > id } }

    mutating func set(_ id: ItemRowID, to number: Int32) {
        let part = self.part(of: id)
        let offset = parts[part].ids.partitioningIndex { $0 >= id }
        if offset < parts[part].ids.count, parts[part].ids[offset] == id {
            parts[part].numbers[offset] = number
            return
        }
        parts[part].ids.insert(id, at: offset)
        parts[part].numbers.insert(number, at: offset)
        guard parts[part].ids.count > QueryOrder.largest else { return }
        let half = parts[part].ids.count / 2
        let rest = Part(ids: Array(parts[part].ids[half...]), numbers: Array(parts[part].numbers[half...]))
        parts[part].ids.removeLast(rest.ids.count)
        parts[part].numbers.removeLast(rest.ids.count)
        bounds.insert(rest.ids[0], at: part)
        parts.insert(rest, at: part + 1)
    }

    mutating func remove(_ id: ItemRowID) -> Int32? {
        let part = self.part(of: id)
        let offset = parts[part].ids.partitioningIndex { $0 >= id }
        guard offset < parts[part].ids.count, parts[part].ids[offset] == id else { return nil }
        parts[part].ids.remove(at: offset)
        return parts[part].numbers.remove(at: offset)
    }
}

extension RandomAccessCollection where Index == Int {
    /// Returns the first index whose element meets a condition that all later ones meet too; the end if none does.
    func partitioningIndex<Problem>(where isMet: (Element) throws(Problem) -> Bool) throws(Problem) -> Int {
        var (low, high) = (startIndex, endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if try isMet(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
