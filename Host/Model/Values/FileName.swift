/// A name in a folder, equal only to the same bytes.
package struct FileName: ByteText {
    package let text: String
    package init(text: String) { self.text = text }
}
