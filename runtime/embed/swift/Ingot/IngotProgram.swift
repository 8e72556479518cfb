import CIngot
import Foundation
import IngotMetal

/// The system's GPU.
public final class IngotDevice {
    let native: UnsafeMutablePointer<ingot_device>

    /// Throws when Metal has no GPU here.
    public init() throws {
        native = UnsafeMutablePointer<ingot_device>.allocate(capacity: 1)
        native.initialize(to: ingot_device())
        try check { ingot_metal_open(native, $0) }
    }

    deinit {
        ingot_metal_close(native)
        native.deallocate()
    }
}

/// The functions of a bundle, ready to run. May be used from any thread; calls take turns.
public final class IngotProgram {
    private let bundle: IngotBundle
    private let device: IngotDevice
    private let native: OpaquePointer
    private let turn = NSLock()

    /// Compiles the kernels; throws when the device cannot run any variant of the bundle.
    public init(_ bundle: IngotBundle, on device: IngotDevice) throws {
        self.bundle = bundle
        self.device = device
        var error = ingot_error()
        guard let program = ingot_load(bundle.native, device.native, &error) else {
            throw IngotError(error)
        }
        native = program
    }

    deinit {
        ingot_unload(native)
    }

    /// The function with this name; throws when the bundle has none.
    public func function(_ name: String) throws -> IngotFunction {
        let index = ingot_find(bundle.native, name)
        guard index >= 0 else {
            let known = bundle.functions.joined(separator: ", ")
            throw IngotError("the bundle has no function \(name); it has \(known)")
        }
        return IngotFunction(
            name: name,
            argumentTypes: bundle.argumentTypes(UInt32(index)),
            resultTypes: bundle.resultTypes(UInt32(index)),
            program: self,
            index: index
        )
    }

    func call(
        _ function: IngotFunction, _ arguments: [AnyTensor], _ capacities: [Int]
    ) throws -> [AnyTensor] {
        // What a call is given and writes into lies here until it returns.
        let given = arguments.map { Memory($0.bytes, type: $0.type) }
        var results = capacities.map { Memory(capacity: $0) }
        defer {
            given.forEach { $0.free() }
            results.forEach { $0.free() }
        }
        let inputs = given.map(\.array)
        var outputs = results.map(\.array)
        turn.lock()
        defer { turn.unlock() }
        try check { ingot_call(native, function.index, inputs, &outputs, $0) }
        for position in results.indices {
            results[position].array = outputs[position]
        }
        return results.map(\.tensor)
    }
}

/// One function of a program.
public struct IngotFunction {
    public let name: String
    public let argumentTypes: [TensorType]
    public let resultTypes: [TensorType]
    fileprivate let program: IngotProgram
    fileprivate let index: Int32

    fileprivate init(
        name: String, argumentTypes: [TensorType], resultTypes: [TensorType],
        program: IngotProgram, index: Int32
    ) {
        self.name = name
        self.argumentTypes = argumentTypes
        self.resultTypes = resultTypes
        self.program = program
        self.index = index
    }

    /// Runs the function and waits.
    ///
    /// - Parameter openResults: bytes to keep for each result whose type has open sizes, in order.
    public func callAsFunction(
        _ arguments: [AnyTensor], openResults: [Int] = []
    ) throws -> [AnyTensor] {
        guard arguments.count == argumentTypes.count else {
            throw IngotError("\(name) takes \(argumentTypes.count) arguments, not \(arguments.count)")
        }
        var open = openResults[...]
        let capacities: [Int] = try resultTypes.map { type in
            guard let size = type.byteCount ?? open.popFirst() else {
                throw IngotError("\(name) has results of open sizes: say how many bytes they need")
            }
            return size
        }
        return try program.call(self, arguments, capacities)
    }

    /// Runs a function with one result.
    public func callAsFunction<Element: TensorElement>(
        _ arguments: AnyTensor..., as element: Element.Type
    ) throws -> Tensor<Element> {
        let results = try callAsFunction(arguments)
        guard let result = results.first, results.count == 1 else {
            throw IngotError("\(name) has \(results.count) results, not one")
        }
        return try Tensor<Element>(result)
    }
}

/// Memory of a tensor that the C library reads or writes.
private struct Memory {
    var array: ingot_array

    init(capacity: Int) {
        array = ingot_array()
        array.data = UnsafeMutableRawPointer.allocate(byteCount: max(capacity, 16), alignment: 16)
        array.capacity = UInt64(capacity)
    }

    init(_ bytes: [UInt8], type: TensorType) {
        self.init(capacity: bytes.count)
        array.type = type.native
        bytes.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(start: array.data, count: source.count)
                .copyMemory(from: source)
        }
    }

    var tensor: AnyTensor {
        let type = TensorType(array.type)
        let bytes = UnsafeRawBufferPointer(start: array.data, count: type.byteCount ?? 0)
        return AnyTensor(type: type, bytes: Array(bytes))
    }

    func free() {
        array.data.deallocate()
    }
}
