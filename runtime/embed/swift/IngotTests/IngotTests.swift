import Foundation
import XCTest

@testable import Ingot

/// INGOT_TEST_BUNDLE names a bundle of `examples/saxpy.mlir`.
final class IngotTests: XCTestCase {
    func testDamagedBundlesAreRefused() {
        for data in [Data(), Data(repeating: 7, count: 1000)] {
            XCTAssertThrowsError(try IngotBundle(data: data)) { error in
                XCTAssertFalse("\(error)".isEmpty)
            }
        }
    }

    func testTypesAreThoseOfTheLibrary() throws {
        let type = TensorType(.i16, [2, 3])
        XCTAssertEqual(type.byteCount, 12)
        XCTAssertNil(TensorType(.f32, [-1, 3]).byteCount)
        XCTAssertEqual(TensorType(type.native), type)
        let tensor = Tensor<Float>([1, 2, 3], shape: [3])
        XCTAssertEqual(try Tensor<Float>(tensor.erased).elements, [1, 2, 3])
        XCTAssertThrowsError(try Tensor<Int32>(tensor.erased))
    }

    func testAFunctionOfABundle() throws {
        guard let path = ProcessInfo.processInfo.environment["INGOT_TEST_BUNDLE"] else {
            throw XCTSkip("INGOT_TEST_BUNDLE is not set")
        }
        let bundle = try IngotBundle(contentsOf: URL(fileURLWithPath: path))
        XCTAssertEqual(bundle.functions, ["saxpy"])
        let program = try IngotProgram(bundle, on: IngotDevice())
        let saxpy = try program.function("saxpy")
        let a = Tensor<Float>([2], shape: [])
        let x = Tensor<Float>((0..<1000).map { Float($0) }, shape: [1000])
        for _ in 0..<2 {
            let y = try saxpy(a.erased, x.erased, x.erased, as: Float.self)
            XCTAssertEqual(y.shape, [1000])
            XCTAssertEqual(y.elements, x.elements.map { 3 * $0 })
        }
        XCTAssertThrowsError(try saxpy([a.erased, x.erased]))
        XCTAssertThrowsError(try saxpy(x.erased, x.erased, x.erased, as: Float.self))
        XCTAssertThrowsError(try program.function("other"))
    }
}
