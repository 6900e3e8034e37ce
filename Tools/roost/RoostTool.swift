// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// The program `roost`: looks into any store by its catalog, and never changes it.
@main
enum RoostTool {
    static func main() {
        Output.reserveStandardDescriptors()
        Output.ignoreSignals()
        MapFault.catchSignals()
        exit(run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }

    enum ExitCode: Int32 {
        case success = 0
        /// The store, its file or the output failed.
        case failure = 1
        /// What was asked for cannot be: options, types, fields or values.
        case usage = 2
    }

    private static func run(_ arguments: [String]) -> ExitCode {
        let output = Output(descriptor: STDOUT_FILENO)
        do {
            switch try Command(arguments) {
            case .help(let topic): try output.write(Help.text(topic))
            case .version:
                try output.write("roost \(Help.version) (store format \(StoreInspector.formatVersion))\n")
            case .info(let request): try InfoReport(request).write(to: output)
            case .query(let request): try QueryReport(request).write(to: output)
            }
            try output.flush()
            return .success
        } catch let failure as Output.Failure {
            // Whoever read our output has seen enough.
            if failure.code == EPIPE { return .success }
            return report("cannot write the output: \(String(cString: strerror(failure.code)))", .failure)
        } catch let error as Command.UsageError {
            return report(error.message, .usage)
        } catch let error as StoreError {
            // What was read before it failed.
            try? output.flush()
            let isUsage = [.unknownEntity, .unknownField, .invalidValue].contains(error.code)
            return report(error.description, isUsage ? .usage : .failure)
        } catch {
            return report("\(error)", .failure)
        }
    }

    /// Always one line, whatever names and values it quotes. Where it cannot be written, the exit code is what tells.
    private static func report(_ message: String, _ code: ExitCode) -> ExitCode {
        let errors = Output(descriptor: STDERR_FILENO)
        try? errors.write("roost: \(CellText.escaped(message))\n")
        try? errors.flush()
        return code
    }
}
