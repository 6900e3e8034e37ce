// SPDX-License-Identifier: Apache-2.0

import Foundation
import RoostTestSupport
import Testing

@testable import Roost

/// Commits of another process, which nobody announces to this one.
struct OtherProcessTests {
    let place = TemporaryPlace()
    let store: Store

    init() throws {
        store = try Store.open(at: place.url, entities: Storage.Note.self)
    }

    private func writer() throws -> HelperProcess {
        let process = try HelperProcess(["add", place.url.path])
        #expect(process.line() == "ready")
        return process
    }

    @Test func observerSeesThem() async throws {
        let other = try writer()
        var values = FetchDescriptor<Storage.Note>().makeObserver { $0.map(\.text) }.values(store).makeAsyncIterator()
        #expect(try await values.next() == [])
        other.send("first")
        #expect(try await values.next() == ["first"])
        #expect(other.line() == "done")
        other.send("second")
        #expect(try await values.next() == ["first", "second"])
        #expect(other.finish() == 0)
    }

    @Test func resolverSeesThem() async throws {
        let other = try writer()
        let resolver = store.resolver(for: Storage.Note.self)
        var values = resolver.values.makeAsyncIterator()
        resolver.resolve([1])
        #expect(await values.next()?.isEmpty == true)
        other.send("first")
        #expect(await values.next()?.map(\.text) == ["first"])
        #expect(other.finish() == 0)
    }

    /// What the other process committed before a commit of this one is published before it.
    @Test func theyArePublishedInOrderWithThoseOfThisProcess() async throws {
        let other = try writer()
        var commits = store.commits().makeAsyncIterator()
        other.send("theirs")
        #expect(other.line() == "done")
        try await store.write { tx in try tx.insert(Storage.Note(id: 50, text: "ours")) }
        let first = try #require(await commits.next())
        #expect(first.origin == .otherProcess && first.sequence == 1)
        #expect(try first.changes(of: Storage.Note.self)?.isComplete == false)
        let second = try #require(await commits.next())
        #expect(second.origin == .thisProcess && second.sequence == 2)
        #expect(try second.changes(of: Storage.Note.self)?.inserted == [50])
        #expect(other.finish() == 0)
    }
}
