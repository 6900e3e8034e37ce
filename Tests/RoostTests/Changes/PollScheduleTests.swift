// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Roost

struct PollScheduleTests {
    private let second: UInt64 = 1_000_000_000

    /// How often it is looked within `time`, by a clock of the test's.
    private func looks(_ schedule: inout PollSchedule, within time: UInt64, _ outcome: PollSchedule.Outcome) -> Int {
        var (now, looks) = (schedule.interval, 0)
        while now <= time {
            looks += 1
            schedule.polled(outcome)
            now += schedule.interval
        }
        return looks
    }

    /// It used to be twenty times.
    @Test func anIdleStoreIsLookedAtOnceASecondWhereTheSystemTellsOfWrites() {
        var schedule = PollSchedule(.init(), isWatched: true)
        #expect(looks(&schedule, within: second, .nothing) == 1)
        #expect(looks(&schedule, within: 60 * second, .nothing) == 60)
        // After a commit that was told it is the same.
        schedule.fileWasWritten()
        schedule.polled(.commits)
        #expect(looks(&schedule, within: second, .nothing) == 1)
        var unwatched = PollSchedule(.init(), isWatched: false)
        #expect(looks(&unwatched, within: second, .nothing) == 20)
    }

    @Test func oneThatTellsNothingIsNotReliedUponUntilItTells() {
        var schedule = PollSchedule(.init(), isWatched: true)
        // What was committed before the file was watched nobody could tell.
        schedule.polled(.commits)
        #expect(schedule.interval == second)
        schedule.polled(.commits)
        #expect(schedule.interval == 50_000_000)
        schedule.polled(.nothing)
        #expect(schedule.interval == 50_000_000)
        schedule.fileWasWritten()
        #expect(schedule.interval == second)
        schedule.polled(.commits)
        #expect(schedule.interval == second)
    }

    @Test func whatCannotBeReadYetIsTriedSoonAndThenEverLessOften() {
        var schedule = PollSchedule(.init(), isWatched: true)
        schedule.polled(.unreadable)
        #expect(schedule.interval == 1_000_000)
        #expect((10...13).contains(looks(&schedule, within: 3 * second, .unreadable)))
        #expect(schedule.interval == second)
        schedule.polled(.nothing)
        schedule.polled(.unreadable)
        #expect(schedule.interval == 1_000_000)
        schedule.polled(.commits)
        #expect(schedule.interval >= 50_000_000)
    }
}
