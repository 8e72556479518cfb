import CIngot

/// The types of elements, numbered as `enum ingot_dtype` of the C library does.
public enum ElementType: UInt32 {
    case i1 = 0
    case i4, i8, i16, i32, i64, f16, bf16, f32, c64, ui8, ui16, ui32, ui64
}

/// A type of Swift whose values are those of an element type, byte by byte.
public protocol TensorElement {
    static var elementType: ElementType { get }
}

extension Bool: TensorElement {
    public static var elementType: ElementType { .i1 }
}

extension Int8: TensorElement {
    public static var elementType: ElementType { .i8 }
}

extension Int16: TensorElement {
    public static var elementType: ElementType { .i16 }
}

extension Int32: TensorElement {
    public static var elementType: ElementType { .i32 }
}

extension Int64: TensorElement {
    public static var elementType: ElementType { .i64 }
}

extension UInt8: TensorElement {
    public static var elementType: ElementType { .ui8 }
}

extension UInt16: TensorElement {
    public static var elementType: ElementType { .ui16 }
}

extension UInt32: TensorElement {
    public static var elementType: ElementType { .ui32 }
}

extension UInt64: TensorElement {
    public static var elementType: ElementType { .ui64 }
}

extension Float: TensorElement {
    public static var elementType: ElementType { .f32 }
}

#if arch(arm64)
extension Float16: TensorElement {
    public static var elementType: ElementType { .f16 }
}
#endif

/// Element type and sizes of a tensor; a size of -1 is decided by a call.
public struct TensorType: Equatable {
    public let elementType: ElementType
    public let shape: [Int]

    /// Bytes of a tensor of this type; nil where a size is open.
    public var byteCount: Int? {
        var type = native
        let size = ingot_byte_size(&type)
        return size == UInt64.max ? nil : Int(size)
    }

    public init(_ elementType: ElementType, _ shape: [Int]) {
        self.elementType = elementType
        self.shape = shape
    }

    init(_ type: ingot_type) {
        // The library has checked the number.
        elementType = ElementType(rawValue: UInt32(type.dtype.rawValue)) ?? .i8
        shape = withUnsafeBytes(of: type.shape) { bytes in
            bytes.bindMemory(to: Int64.self).prefix(Int(type.rank)).map { Int($0) }
        }
    }

    var native: ingot_type {
        var type = ingot_type()
        type.dtype = ingot_dtype(rawValue: .init(elementType.rawValue))
        type.rank = UInt32(shape.count)
        withUnsafeMutableBytes(of: &type.shape) { bytes in
            let sizes = bytes.bindMemory(to: Int64.self)
            for (dimension, size) in shape.prefix(sizes.count).enumerated() {
                sizes[dimension] = Int64(size)
            }
        }
        return type
    }
}

/// A tensor of any element type, as a function takes and gives it.
public struct AnyTensor {
    public let type: TensorType
    /// Row-major elements without gaps; two i4 in a byte.
    public let bytes: [UInt8]

    public init(type: TensorType, bytes: [UInt8]) {
        self.type = type
        self.bytes = bytes
    }
}

/// Row-major elements of one type.
public struct Tensor<Element: TensorElement> {
    public let shape: [Int]
    public var elements: [Element]

    /// `elements` has as many elements as `shape` says.
    public init(_ elements: [Element], shape: [Int]) {
        precondition(elements.count == shape.reduce(1, *), "a shape of another number of elements")
        self.elements = elements
        self.shape = shape
    }

    /// Throws when `tensor` has other elements.
    public init(_ tensor: AnyTensor) throws {
        guard tensor.type.elementType == Element.elementType else {
            throw IngotError("the tensor has elements of type \(tensor.type.elementType)")
        }
        shape = tensor.type.shape
        elements = tensor.bytes.withUnsafeBytes { bytes in
            let count = bytes.count / MemoryLayout<Element>.stride
            return (0..<count).map { index in
                let offset = index * MemoryLayout<Element>.stride
                return bytes.loadUnaligned(fromByteOffset: offset, as: Element.self)
            }
        }
    }

    /// The same tensor without its type.
    public var erased: AnyTensor {
        let bytes = elements.withUnsafeBytes { Array($0) }
        return AnyTensor(type: TensorType(Element.elementType, shape), bytes: bytes)
    }
}
