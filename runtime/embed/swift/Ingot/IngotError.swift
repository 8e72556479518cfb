import CIngot

/// What went wrong, as one sentence.
public struct IngotError: Error, Equatable, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }

    init(_ error: ingot_error) {
        description = withUnsafeBytes(of: error.message) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

/// Calls a function of the C library that returns 0, or another number and a sentence.
func check(_ body: (UnsafeMutablePointer<ingot_error>) -> Int32) throws {
    var error = ingot_error()
    if body(&error) != 0 {
        throw IngotError(error)
    }
}
