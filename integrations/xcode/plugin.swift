// Compiles the .mlir and .tin files of a target to bundles, which become its resources: STEM.ingot.
//
// `ingot.json` among the target's files says how:
//
//     {"targets": ["metal:apple7"], "options": ["--math", "strict"], "ingot": "/path/of/ingot"}
//
// Without "ingot", the command is looked for where installers put it: Xcode has no PATH of a shell.
// docs/builds.md describes the use.

import Foundation
import PackagePlugin

@main
struct IngotBundle: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: Target) async throws -> [Command] {
        guard let target = target as? SourceModuleTarget else { return [] }
        let files = target.sourceFiles.map(\.path)
        return try commands(
            for: files, package: context.package.directory, output: context.pluginWorkDirectory)
    }
}

#if canImport(XcodeProjectPlugin)
import XcodeProjectPlugin

extension IngotBundle: XcodeBuildToolPlugin {
    func createBuildCommands(context: XcodePluginContext, target: XcodeTarget) throws -> [Command] {
        let files = target.inputFiles.map(\.path)
        return try commands(
            for: files, package: context.xcodeProject.directory, output: context.pluginWorkDirectory)
    }
}
#endif

/// What `ingot.json` says.
struct Settings: Decodable {
    var targets: [String]?
    var options: [String]?
    var ingot: String?
}

struct PluginError: Error, CustomStringConvertible {
    let description: String
}

/// A command for each program among the files of a target.
func commands(for files: [Path], package: Path, output: Path) throws -> [Command] {
    let programs = files.filter { ["mlir", "tin"].contains($0.extension ?? "") }
    guard !programs.isEmpty else { return [] }
    let file = files.first { $0.lastComponent == "ingot.json" }
    let settings = try readSettings(in: file)
    let ingot = try findIngot(named: settings.ingot, package: package)
    var taken: [String: Path] = [:]
    return try programs.map { program in
        if let other = taken.updateValue(program, forKey: program.stem) {
            throw PluginError(description: "\(other) and \(program) would have the same output")
        }
        let bundle = output.appending("\(program.stem).ingot")
        var words = ["compile", program.string, "-o", bundle.string, "--no-cache"]
        for target in settings.targets ?? ["metal:apple7"] {
            words += ["--target", target]
        }
        words += settings.options ?? []
        return .buildCommand(
            displayName: "Compiling \(program.lastComponent)",
            executable: ingot,
            arguments: words,
            inputFiles: [program] + (file.map { [$0] } ?? []),
            outputFiles: [bundle])
    }
}

func readSettings(in file: Path?) throws -> Settings {
    guard let file else { return Settings() }
    let data = try Data(contentsOf: URL(fileURLWithPath: file.string))
    do {
        return try JSONDecoder().decode(Settings.self, from: data)
    } catch {
        throw PluginError(description: "\(file): \(error)")
    }
}

/// The ingot command: the one of the settings, or the first that there is.
func findIngot(named given: String?, package: Path) throws -> Path {
    let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"
    let places = given.map { [$0] } ?? [
        package.appending([".venv", "bin", "ingot"]).string,
        "\(home)/.local/bin/ingot",
        "/opt/homebrew/bin/ingot",
        "/usr/local/bin/ingot",
    ]
    guard let found = places.first(where: FileManager.default.isExecutableFile(atPath:)) else {
        throw PluginError(
            description: "no ingot at \(places.joined(separator: ", ")): pip install ingot-compiler,"
                + " or say where it is as \"ingot\" in ingot.json")
    }
    return Path(found)
}
