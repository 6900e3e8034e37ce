// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Roost

/// Marble diagrams: a character is 10 ms; `x` is an event, and in the answer an action.
struct DebounceTests {
    private func acted(_ events: String, _ ticks: Int, maximumWait: Int? = nil) -> String {
        var burst = DebouncedBurst(
            interval: .milliseconds(ticks * 10), maximumWait: maximumWait.map { .milliseconds($0 * 10) })
        var answer = ""
        for (tick, event) in events.enumerated() {
            let now = Duration.milliseconds(tick * 10)
            if event == "x" { burst.note(at: now) }
            let isDue = burst.due.map { $0 <= now } ?? false
            if isDue { burst.end() }
            answer += isDue ? "x" : "-"
        }
        return answer
    }

    @Test func actsOnceWhenABurstPauses() {
        #expect(acted("x-----", 3) == "---x--")
        #expect(acted("xxx------", 3) == "-----x---")
        #expect(acted("x--------x-----", 3) == "---x--------x--")
    }

    @Test func isNotHeldBackBeyondTheMaximumWait() {
        let endless = "xxxxxxxxxxxxxxx------"
        #expect(acted(endless, 3) == "-----------------x---")
        #expect(acted(endless, 3, maximumWait: 5) == "-----x-----x-----x---")
    }

    @Test func eventAtTheMomentOfActingIsPartOfItOrFollows() {
        // The last event is 14; what acts at 14 holds it already.
        #expect(acted("x-x-x-----", 3, maximumWait: 4) == "----x-----")
        #expect(acted("x-x-xx----", 3, maximumWait: 4) == "----x---x-")
    }

    @Test func maximumWaitShorterThanTheIntervalRules() {
        #expect(acted("x-----", 4, maximumWait: 2) == "--x---")
        #expect(acted("x--x---", 4, maximumWait: 0) == "x--x---")
    }

    @Test func intervalOfNothingActsAtOnce() {
        #expect(acted("x-x", 0) == "x-x")
        #expect(acted("x-x", -1) == "x-x")
    }

    @Test func longestOfIntervalsDoesNotOverflow() {
        let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
        var burst = DebouncedBurst(interval: longest, maximumWait: nil)
        burst.note(at: .seconds(1))
        #expect(burst.due == longest)
        burst = DebouncedBurst(interval: longest, maximumWait: longest)
        burst.note(at: .seconds(1))
        #expect(burst.due == longest)
        burst = DebouncedBurst(interval: longest, maximumWait: .seconds(2))
        burst.note(at: .seconds(1))
        #expect(burst.due == .seconds(3))
    }

    @Test func sleepsOnWhenMoreCame() async throws {
        let clock = SteppedClock()
        let debounce = Debounce(.milliseconds(30), maximumWait: .milliseconds(50), clock: clock)
        try await debounce.settle()
        debounce.note(at: debounce.now())
        let settling = Task { try await debounce.settle() }
        #expect(await clock.nextSleep() == .milliseconds(30))
        clock.advance(by: .milliseconds(10))
        debounce.note(at: debounce.now())
        clock.advance(by: .milliseconds(20))
        #expect(await clock.nextSleep() == .milliseconds(40))
        debounce.note(at: debounce.now())
        clock.advance(by: .milliseconds(10))
        #expect(await clock.nextSleep() == .milliseconds(50))
        clock.advance(by: .milliseconds(10))
        try await settling.value
    }

    @Test func burstIsKeptWhenItsWaitIsCancelled() async throws {
        let clock = SteppedClock()
        let debounce = Debounce(.milliseconds(30), maximumWait: nil, clock: clock)
        debounce.note(at: debounce.now())
        let cancelled = Task { try await debounce.settle() }
        #expect(await clock.nextSleep() == .milliseconds(30))
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let following = Task { try await debounce.settle() }
        #expect(await clock.nextSleep() == .milliseconds(30))
        clock.advance(by: .milliseconds(30))
        try await following.value
    }
}
