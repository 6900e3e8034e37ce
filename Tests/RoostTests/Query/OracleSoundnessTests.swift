// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost
import Testing

/// What the oracle takes for granted of Foundation.
@Suite("The oracle can be relied on") struct OracleSoundnessTests {
    private static let texts = Samples.shortTexts + Samples.longTexts

    @Test func foundationComposesTheAlphabetAsSwiftComparesIt() {
        for a in Self.texts {
            for b in Self.texts { #expect((a == b) == (Text.key(a) == Text.key(b)), "\(a.debugDescription)") }
        }
        #expect(Self.texts.filter(Text.isUnnormalized).count >= 10)
    }

    /// Foundation's lexical comparison takes U+00F1 "o" and "n" U+0303 for the same; the museums hold no such pair.
    @Test func lexicalComparisonIsAnOrderOfTheMuseums() {
        var random = SeededRandom(seed: 1)
        let museums = Samples(long: false, using: &random).museums.map { Museum(id: $0, city: "") }
        let descriptor = SortDescriptor(\Museum.id, comparator: .lexical)
        for a in museums {
            for b in museums {
                let order = descriptor.compare(a, b)
                #expect(order.rawValue == -descriptor.compare(b, a).rawValue)
                for c in museums where order != .orderedDescending && descriptor.compare(b, c) != .orderedDescending {
                    #expect(descriptor.compare(a, c) != .orderedDescending)
                }
            }
        }
    }
}
