import Model

extension ConfigDecoding {
    func text(_ pair: ConfigPair, at keyPath: String, shown: Bool = true) -> String? {
        guard case .scalar(let text, _) = pair.value.content, !pair.value.isNull, !text.isEmpty else {
            refuse(pair.value.source, "`\(keyPath)` must be a single text, not \(pair.value.kindName)")
            return nil
        }
        if shown { show(keyPath, .string(text), pair.value.source) }
        return text
    }

    /// Returns the absolute path that a value names; nil after a problem, which is recorded.
    func path(_ pair: ConfigPair, at keyPath: String) -> String? {
        guard let text = text(pair, at: keyPath, shown: false) else { return nil }
        do {
            let path = try paths.absolute(text)
            show(keyPath, .string(path), pair.value.source)
            return path
        } catch {
            refuse(pair.value.source, "`\(keyPath)`: \(error.message)")
            return nil
        }
    }

    func bool(_ pair: ConfigPair, at keyPath: String) -> Bool {
        do throws(Wrong) {
            guard case .scalar(let text, let isPlain) = pair.value.content else {
                throw Wrong("\(pair.value.kindName) is neither true nor false")
            }
            let value = try ConfigScalar.bool(text, isPlain: isPlain)
            show(keyPath, .bool(value), pair.value.source)
            return value
        } catch {
            refuse(pair.value.source, "`\(keyPath)`: \(error.message)")
            return false
        }
    }

    func texts(_ pair: ConfigPair, at keyPath: String) -> [String]? {
        guard case .list(let values) = pair.value.content else {
            refuse(pair.value.source, "`\(keyPath)` must be a list, not \(pair.value.kindName)")
            return nil
        }
        var texts: [String] = []
        for value in values {
            guard case .scalar(let text, _) = value.content else {
                refuse(value.source, "`\(keyPath)` must be a list of texts; this is \(value.kindName)")
                return nil
            }
            texts.append(text)
        }
        return texts
    }
}
