/// The name of a file in a folder. Names are equal only if their bytes are the same.
package struct FileName: ByteText {
    package let text: String
    package init(text: String) { self.text = text }
}
