import CIngot
import Foundation

/// A bundle that was checked; what `ingot compile` writes.
public final class IngotBundle {
    let native: UnsafeMutablePointer<ingot_bundle>
    private let memory: UnsafeMutableRawPointer
    private var weights: NSData?

    /// Checks a bundle; throws when there is anything wrong with it.
    public init(data: Data) throws {
        // The library reads it in place, at a multiple of 64 bytes.
        memory = aligned(data)
        native = UnsafeMutablePointer<ingot_bundle>.allocate(capacity: 1)
        native.initialize(to: ingot_bundle())
        try check { ingot_open(native, memory, data.count, $0) }
    }

    /// Reads a bundle's file, and the file with its weights beside it where it has one.
    public convenience init(contentsOf url: URL) throws {
        try self.init(data: try Data(contentsOf: url, options: .mappedIfSafe))
        let file = text(ingot_weights_file(native))
        if !file.isEmpty {
            let beside = url.deletingLastPathComponent().appendingPathComponent(file)
            let data = try NSData(contentsOf: beside, options: .mappedIfSafe)
            weights = data
            native.pointee.weights = ingot_bytes(data: data.bytes, size: UInt64(data.length))
        }
    }

    deinit {
        native.deallocate()
        memory.deallocate()
    }

    /// The names of the functions.
    public var functions: [String] {
        (0..<native.pointee.functions).map { text(ingot_function_name(native, $0)) }
    }

    func argumentTypes(_ function: UInt32) -> [TensorType] {
        (0..<ingot_argument_count(native, function)).map { position in
            TensorType(ingot_argument_type(native, function, position))
        }
    }

    func resultTypes(_ function: UInt32) -> [TensorType] {
        (0..<ingot_result_count(native, function)).map { position in
            TensorType(ingot_result_type(native, function, position))
        }
    }
}

/// A copy of data at a multiple of 64 bytes.
private func aligned(_ data: Data) -> UnsafeMutableRawPointer {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(data.count, 64), alignment: 64)
    data.copyBytes(to: memory.assumingMemoryBound(to: UInt8.self), count: data.count)
    return memory
}

private func text(_ text: ingot_text) -> String {
    let bytes = UnsafeRawBufferPointer(start: text.data, count: Int(text.size))
    return String(decoding: bytes, as: UTF8.self)
}
