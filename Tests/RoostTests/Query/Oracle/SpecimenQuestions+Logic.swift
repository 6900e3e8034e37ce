// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

extension SpecimenQuestions {
    /// Values small enough that nothing overflows, or where Foundation does not trap.
    static func arithmetic(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.int(-25...25)
        let weight = random.pick(samples.doubles)
        return [
            Question("score + 1 >", #Predicate { $0.score + 1 > a }),
            Question("score * 2 - 3 <=", #Predicate { $0.score * 2 - 3 <= a }),
            Question("-score <", #Predicate { -$0.score < a }),
            Question("score / 3 ==", #Predicate { $0.score / 3 == a / 3 }),
            Question("score % 3 ==", #Predicate { $0.score % 3 == 1 }),
            Question("weight / 2 <", #Predicate { $0.weight / 2 < weight }),
            Question("weight + ratio", #Predicate { $0.weight + ($0.ratio ?? 0) >= weight }),
            Question("-weight ==", #Predicate { -$0.weight == weight }),
            Question("ternary", #Predicate { ($0.isRare ? $0.score : $0.id) > a }),
            Question("sum and index", #Predicate { $0.score == a && $0.score + $0.id > a }),
            Question("index behind a sum", #Predicate { $0.score + $0.id > a && $0.score == a }),
        ]
    }

    static func logic(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let yes = true
        let no = false
        let a = random.int(-20...20)
        let one = random.int(0...2)
        return [
            Question("everything", nil, by: { _ in true }),
            Question("true", #Predicate { _ in true }),
            Question("false", #Predicate { _ in false }),
            Question("captured true", #Predicate { _ in yes }),
            Question("rare", #Predicate { $0.isRare }),
            Question("not rare", #Predicate { !$0.isRare }),
            Question("rare == false", #Predicate { $0.isRare == false }),
            Question("false and", #Predicate { no && $0.score == a }),
            Question("true and", #Predicate { yes && $0.score == a }),
            Question("true or", #Predicate { yes || $0.score == a }),
            Question("false or", #Predicate { $0.score == a || no }),
            Question("not false", #Predicate { !(no && $0.isRare) }),
            Question("constants compared", #Predicate { $0.score > a && one > 0 }),
            Question("not not", #Predicate { !(!($0.score == a)) }),
            Question("score > and kind", #Predicate { $0.score > 12 && $0.isRare }),
        ]
    }

    static func combinations(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.int(-20...20)
        let b = random.int(-20...20)
        let text = random.pick(samples.texts)
        let museum = random.pick(samples.museums)
        let weight = random.pick(samples.doubles)
        let rank = random.pick(samples.ranks)
        return [
            Question("or of ands", #Predicate { ($0.score == a && $0.isRare) || ($0.score == b && !$0.isRare) }),
            Question("and of ors", #Predicate { ($0.score == a || $0.score == b) && ($0.rank == rank || $0.isRare) }),
            Question("not of and", #Predicate { !($0.score > a && $0.museum.id == museum) }),
            Question("not of or", #Predicate { !($0.score > a || $0.rank == nil) && $0.weight < weight }),
            Question("or of fields", #Predicate { $0.name == text || $0.note == text || $0.tags.contains(text) }),
            Question("or with range", #Predicate { ($0.score < a || $0.score > b) && $0.museum.id == museum }),
            Question("or in two fields", #Predicate { ($0.score == a || $0.id == b) || $0.score == b }),
            Question(
                "everything at once",
                #Predicate {
                    $0.museum.id == museum && ($0.score >= a || $0.rank == rank)
                        && !($0.weight == weight && $0.isRare) && ($0.tags.contains(text) || $0.note != text)
                }),
            Question(
                "index, object and index",
                #Predicate { $0.museum.id == museum && $0.tags.count > 0 && $0.score <= a && $0.name != text }),
            Question("both branches", #Predicate { $0.isRare ? $0.score == a : $0.rank == rank }),
        ]
    }
}
