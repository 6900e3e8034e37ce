// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

/// Several processes write and observe one store, and one of them is killed at any moment: every live value of the others
/// becomes what a fetch gives.
struct ManyProcessesTests {
    /// Processes, in rounds. Who was killed is replaced by another one, which begins in the middle.
    @Test(.timeLimit(.minutes(30)), arguments: [2, 3, 4])
    func everyLiveValueConvergesWhenOneOfThemIsKilled(count: Int) throws {
        var random = SeededGenerator()
        try withTemporaryFolder { folder in
            let path = folder + "/Shared.roost"
            func start() throws -> HelperProcess {
                let process = try HelperProcess(["converge", path])
                #expect(process.line() == "ready")
                return process
            }
            var processes = try (0..<count).map { _ in try start() }
            for round in 0..<repetitions(3, thorough: 150) {
                let commits = 40
                let victim = Int.random(in: 0..<count, using: &random)
                let survived = Int.random(in: 0..<commits, using: &random)
                for process in processes { process.send("write \(commits) \(random.next())") }
                let running = processes
                try onThreads(count) { index in
                    if index == victim {
                        for _ in 0..<survived { #expect(running[index].line() == "w") }
                        running[index].kill()
                    } else {
                        for _ in 0..<commits { #expect(running[index].line() == "w") }
                        #expect(running[index].line() == "written")
                    }
                }
                processes.remove(at: victim)
                for process in processes { process.send("settle") }
                let answers = processes.map { $0.line() ?? "nothing" }
                #expect(
                    answers.allSatisfy { $0.hasPrefix("settled ") && $0 == answers[0] },
                    "round \(round): \(answers), ROOST_TEST_SEED=\(random.seed)")
                processes.append(try start())
            }
            for process in processes { #expect(process.finish() == 0) }
        }
    }
}
