// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// The few values of each kind of which objects and predicates are made, so that they meet.
///
/// Text is made of an alphabet on which Foundation's `precomposedStringWithCanonicalMapping` is right, which `textTests`
/// makes sure of.
struct Samples {
    var texts: [String]
    let museums = [
        "", "Bergen", "Bergen op Zoom", "Zu\u{308}rich", "Z\u{FC}rich", "O\u{301}\u{323}", "\u{1ECC}\u{301}",
    ]
    let doubles: [Double] = [
        .nan, -.nan, -0.0, 0.0, .infinity, -.infinity, 1, -1, 0.5, 2.25, -1e300, .leastNonzeroMagnitude, 3, 1e17,
    ]
    let floats: [Float] = [.nan, -0.0, 0, .infinity, -.infinity, 1.5, -2, 0.1, .greatestFiniteMagnitude]
    let serials: [UInt64] = [0, 1, 2, 1 << 63, (1 << 63) - 1, .max, .max - 1, 77]
    let ranks: [Int32?] = [nil, nil, .min, -1, 0, 1, 2, 7, .max]
    let dates: [Date] =
        [-1e9, -0.5, 0, 0.5, 1, 86_400, 7e8].map { Date(timeIntervalSinceReferenceDate: $0) } + [
            .distantPast, .distantFuture,
        ]
    let blobs: [Data] = [[], [0], [0, 0], [1], [0, 1], [1, 0], [255], [255, 255], [9, 8, 7]].map { Data($0) }
    let tokens: [UUID]

    static let shortTexts = [
        "", "a", "ab", "abc", "abd", "b", "A", "Z", "z", "\u{0}", "a\u{0}", "a\u{0}b", "a\u{1}", "a\u{1}b", "\u{1}",
        "a\u{2}",
        "\u{E9}", "e\u{301}", "e", "\u{E9}t\u{E9}", "e\u{301}te\u{301}", "\u{F1}", "n\u{303}", "n", "no", "\u{F1}o",
        "\u{1EAD}", "a\u{323}\u{302}", "a\u{302}\u{323}", "\u{E2}\u{323}", "\u{1EA1}\u{302}", "\u{212B}", "\u{C5}",
        "A\u{30A}", "\u{3B1}\u{301}", "\u{3AC}", "\u{65E5}\u{672C}", "\u{1F600}", "\u{FFFD}", "\u{D7FF}", "\u{E000}",
        "z\u{FF}",
        "q\u{323}\u{307}", "q\u{307}\u{323}",
    ]

    /// Texts that no index key holds as a whole, most of them equal far beyond the cut.
    static let longTexts: [String] = {
        let stem = String(repeating: "lorem ipsum ", count: 25)
        let accented = String(repeating: "\u{E9}\u{0}x", count: 100)
        let decomposed = String(repeating: "e\u{301}\u{0}x", count: 100)
        let tails = ["", "a", "b", "\u{0}", String(repeating: "z", count: 120), String(repeating: "y", count: 250)]
        return tails.map { stem + $0 } + tails.prefix(4).map { accented + $0 } + tails.prefix(4).map { decomposed + $0 }
            + [stem + "e\u{301}", stem + "\u{E9}", String(stem.prefix(240)), String(stem.prefix(120))]
    }()

    init(long: Bool, using random: inout SeededRandom) {
        texts = Self.shortTexts + (long ? Self.longTexts : [])
        var tokens: [UUID] = []
        for _ in 0..<12 {
            var bytes = random.next()
            if random.chance(50) { bytes = random.chance(50) ? 0 : .max }
            let low = UInt64(random.int(0...2)).bigEndian
            tokens.append(
                withUnsafeBytes(of: (bytes, low)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        }
        self.tokens = tokens
    }

    func specimen(_ id: Int, using random: inout SeededRandom) -> Specimen {
        Specimen(
            id: id,
            score: random.int(-20...20),
            rank: random.pick(ranks),
            serial: random.pick(serials),
            weight: random.pick(doubles),
            ratio: random.chance(25) ? nil : random.pick(doubles),
            tone: random.pick(floats),
            isRare: random.chance(30),
            isChecked: random.pick([nil, true, false]),
            name: random.pick(texts),
            note: random.chance(25) ? nil : random.pick(texts),
            found: random.pick(dates),
            seen: random.chance(40) ? nil : random.pick(dates),
            token: random.pick(tokens),
            blob: random.pick(blobs),
            kind: random.pick(Kind.allCases),
            grade: random.pick(Grade.allCases),
            level: random.chance(30) ? nil : random.pick(Grade.allCases),
            museum: Ref(random.pick(museums)),
            parent: random.chance(40) ? nil : Ref(random.int(0...9)),
            tags: random.several(texts, 0...3),
            counts: random.several([-1, 0, 1, 2, 3, .max], 0...4),
            samples: random.several(doubles, 0...2),
            aliases: random.chance(40) ? nil : random.several(texts, 0...2))
    }
}
