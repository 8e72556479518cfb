// swift-tools-version: 5.9
// Ingot for apps: the C library, its Metal back end, and a wrapper in Swift (docs/embedding.md);
// a plugin that compiles the programs of a target (docs/builds.md).

import PackageDescription

let package = Package(
    name: "Ingot",
    platforms: [.macOS(.v14), .iOS(.v17)],
    products: [
        .library(name: "Ingot", targets: ["Ingot"]),
        .plugin(name: "IngotBundle", targets: ["IngotBundle"]),
    ],
    targets: [
        .target(
            name: "CIngot",
            path: "runtime/embed",
            exclude: ["metal", "swift", "vulkan"],
            sources: ["bundle.c", "flat.c", "program.c", "weights.c"],
            publicHeadersPath: "include"
        ),
        .target(
            name: "IngotMetal",
            dependencies: ["CIngot"],
            path: "runtime/embed/metal",
            publicHeadersPath: "include",
            linkerSettings: [.linkedFramework("Foundation"), .linkedFramework("Metal")]
        ),
        .target(
            name: "Ingot",
            dependencies: ["CIngot", "IngotMetal"],
            path: "runtime/embed/swift/Ingot"
        ),
        .plugin(
            name: "IngotBundle",
            capability: .buildTool(),
            path: "integrations/xcode"
        ),
        .testTarget(
            name: "IngotTests",
            dependencies: ["Ingot"],
            path: "runtime/embed/swift/IngotTests"
        ),
    ],
    cLanguageStandard: .c11
)
