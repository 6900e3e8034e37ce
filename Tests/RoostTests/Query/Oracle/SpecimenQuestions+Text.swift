// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

extension SpecimenQuestions {
    static func texts(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.pick(samples.texts)
        let b = random.pick(samples.texts)
        let list = random.several(samples.texts, 0...4)
        let notes: [String?] = [random.pick(samples.texts), nil, random.pick(samples.texts)]
        let prefix = String(a.prefix(random.pick([0, 1, 2, 3, 200, 320])))
        let part = random.pick(["", "a", "e\u{301}", "\u{E9}", "e", "\u{0}", "ab", "ipsum", "x"])
        let rank = random.pick(samples.ranks)
        return [
            Question("name ==", #Predicate { $0.name == a }),
            Question("name !=", #Predicate { $0.name != a }),
            Question("name == or", #Predicate { $0.name == a || $0.name == b }),
            Question("name starts with", #Predicate { $0.name.starts(with: prefix) }),
            Question("name starts with, and ==", #Predicate { $0.name.starts(with: prefix) && $0.name == b }),
            Question("name starts with, and rare", #Predicate { $0.name.starts(with: prefix) && $0.isRare }),
            Question("name starts with name", #Predicate { a.starts(with: $0.name) }),
            Question("array contains name", #Predicate { list.contains($0.name) }),
            Question("name contains", #Predicate { $0.name.contains(part) }),
            Question("name contains name", #Predicate { a.contains($0.name) }),
            Question("name is empty", #Predicate { $0.name.isEmpty }),
            Question("name count", #Predicate { $0.name.count > 2 }),
            Question("note ==", #Predicate { $0.note == a }),
            Question("note !=", #Predicate { $0.note != a }),
            Question("note == and rank ==", #Predicate { $0.note == a && $0.rank == rank }),
            Question("note nil and rank ==", #Predicate { $0.note == nil && $0.rank == rank }),
            Question("array contains note", #Predicate { notes.contains($0.note) }),
            Question("note?.starts", #Predicate { $0.note?.starts(with: prefix) ?? false }),
            Question("note ?? ==", #Predicate { ($0.note ?? a) == b }),
            Question("note ?? == name", #Predicate { ($0.note ?? a) == $0.name }),
        ]
    }

    /// Swift's `<` on unnormalised text is not the store's.
    static func textOrder(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.pick(samples.texts)
        let b = random.pick(samples.texts)
        let museum = random.pick(samples.museums)
        let ordered = Text.less(b, a) ? (b, a) : (a, b)
        let (low, high) = ordered
        return [
            Question("name <", #Predicate { $0.name < a }, by: { Text.less($0.name, a) }),
            Question("name <=", #Predicate { $0.name <= a }, by: { !Text.less(a, $0.name) }),
            Question("name >", #Predicate { $0.name > a }, by: { Text.less(a, $0.name) }),
            Question("name >=", #Predicate { $0.name >= a }, by: { !Text.less($0.name, a) }),
            Question("a < name", #Predicate { a < $0.name }, by: { Text.less(a, $0.name) }),
            Question(
                "name between", #Predicate { $0.name > low && $0.name <= high },
                by: { Text.less(low, $0.name) && !Text.less(high, $0.name) }),
            Question("name < name", #Predicate { $0.name < ($0.note ?? a) }, by: { Text.less($0.name, $0.note ?? a) }),
            Question("not name <", #Predicate { !($0.name < a) }, by: { !Text.less($0.name, a) }),
            Question("(note ?? a) >", #Predicate { ($0.note ?? a) > b }, by: { Text.less(b, $0.note ?? a) }),
            Question(
                "if let note", #Predicate { if let note = $0.note { note <= b } else { true } },
                by: { $0.note.map { !Text.less(b, $0) } ?? true }),
            Question(
                "museum.id >=", #Predicate { $0.museum.id >= museum }, by: { !Text.less($0.museum.id, museum) }),
            Question(
                "kind and name <=", #Predicate { $0.kind.rawValue == 7 && $0.name <= a },
                by: { $0.kind == .mineral && !Text.less(a, $0.name) }),
            Question(
                "tags contain one <", #Predicate { $0.tags.contains { $0 < a } },
                by: { $0.tags.contains { Text.less($0, a) } }),
        ]
    }
}
