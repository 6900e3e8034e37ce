// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// The table of predicates on `Specimen`. Each call draws other values.
enum SpecimenQuestions {
    static func all(_ samples: Samples, _ objects: [Specimen], using random: inout SeededRandom) -> [Question<Specimen>]
    {
        ids(objects, using: &random) + integers(samples, using: &random) + doubles(samples, using: &random)
            + texts(samples, using: &random) + textOrder(samples, using: &random) + kinds(samples, using: &random)
            + references(samples, using: &random) + arrays(samples, using: &random)
            + optionals(samples, using: &random) + arithmetic(samples, using: &random)
            + logic(samples, using: &random) + combinations(samples, using: &random)
    }

    static func ids(_ objects: [Specimen], using random: inout SeededRandom) -> [Question<Specimen>] {
        let most = objects.last?.id ?? 3
        let a = random.int(-2...most + 2)
        let b = a + random.int(0...max(1, most / 2))
        let few = (0..<random.int(0...20)).map { _ in random.int(-3...most + 3) }
        let many = Set((0..<1_500).map { _ in random.int(0...most + 3) })
        let range = a..<b
        let closed = a...b
        return [
            Question("id ==", #Predicate { $0.id == a }),
            Question("id !=", #Predicate { $0.id != a }),
            Question("id <", #Predicate { $0.id < b }),
            Question("a < id", #Predicate { a < $0.id }),
            Question("id >= && <=", #Predicate { $0.id >= a && $0.id <= b }),
            Question("id > && <, turned", #Predicate { b > $0.id && a < $0.id }),
            Question("array contains id", #Predicate { few.contains($0.id) }),
            Question("set contains id", #Predicate { many.contains($0.id) }),
            Question("range contains id", #Predicate { range.contains($0.id) }),
            Question("closed range contains id", #Predicate { closed.contains($0.id) }),
            Question("spelled range contains id", #Predicate { (a..<b).contains($0.id) }),
            Question("array contains id, and a test", #Predicate { few.contains($0.id) && $0.isRare }),
            Question("id == or id ==", #Predicate { $0.id == a || $0.id == b }),
            Question("not in the array", #Predicate { !few.contains($0.id) }),
        ]
    }

    static func integers(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.int(-22...22)
        let b = a + random.int(0...12)
        let c = random.int(-22...22)
        let serial = random.pick(samples.serials)
        let serials = random.several(samples.serials, 0...3)
        let scores = Set(random.several(Array(-20...20), 1...5))
        return [
            Question("score ==", #Predicate { $0.score == a }),
            Question("score !=", #Predicate { $0.score != a }),
            Question("score >", #Predicate { $0.score > a }),
            Question("score range", #Predicate { $0.score >= a && $0.score < b }),
            Question("closed range of score", #Predicate { (a...b).contains($0.score) }),
            Question("set contains score", #Predicate { scores.contains($0.score) }),
            Question("score == twice", #Predicate { $0.score == a && $0.score == c }),
            Question("score in contradiction", #Predicate { $0.score > b && $0.score < a }),
            Question("three bounds", #Predicate { $0.score > a && $0.score > c && $0.score <= b }),
            Question("set and bound", #Predicate { scores.contains($0.score) && $0.score >= c }),
            Question("three values", #Predicate { $0.score == a || $0.score == b || $0.score == c }),
            Question("serial ==", #Predicate { $0.serial == serial }),
            Question("serial <=", #Predicate { $0.serial <= serial }),
            Question("serial >", #Predicate { $0.serial > serial }),
            Question("array contains serial", #Predicate { serials.contains($0.serial) }),
            Question("score < id", #Predicate { $0.score < $0.id }),
        ]
    }

    static func doubles(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.pick(samples.doubles)
        let b = random.pick(samples.doubles)
        let (low, high) = a.isNaN || b.isNaN ? (-1, 1) : (min(a, b), max(a, b))
        let missing = Double.nan
        let infinity = Double.infinity
        let list = random.several(samples.doubles, 1...4)
        let tone = random.pick(samples.floats)
        let date = random.pick(samples.dates)
        let later = random.pick(samples.dates)
        return [
            Question("weight ==", #Predicate { $0.weight == a }),
            Question("weight !=", #Predicate { $0.weight != a }),
            Question("weight <", #Predicate { $0.weight < a }),
            Question("weight >=", #Predicate { $0.weight >= a }),
            Question("not weight >", #Predicate { !($0.weight > a) }),
            Question("weight == NaN", #Predicate { $0.weight == missing }),
            Question("weight != NaN", #Predicate { $0.weight != missing }),
            Question("weight > NaN", #Predicate { $0.weight > missing }),
            Question("weight <= infinity", #Predicate { $0.weight <= infinity }),
            Question("weight > -infinity", #Predicate { $0.weight > -infinity }),
            Question("weight range", #Predicate { $0.weight > low && $0.weight <= high }),
            Question("range contains weight", #Predicate { (low..<high).contains($0.weight) }),
            Question("array contains weight", #Predicate { list.contains($0.weight) }),
            Question("weight == weight", #Predicate { $0.weight == $0.weight }),
            Question("ratio ==", #Predicate { $0.ratio == a }),
            Question("ratio == nil or weight <", #Predicate { $0.ratio == nil || $0.weight < b }),
            Question("ratio ?? <", #Predicate { ($0.ratio ?? 1) < a }),
            Question("rare and weight", #Predicate { $0.isRare && $0.weight >= low }),
            Question("checked nil and ratio", #Predicate { $0.isChecked == nil && $0.ratio == b }),
            Question("tone ==", #Predicate { $0.tone == tone }),
            Question("tone <=", #Predicate { $0.tone <= tone }),
            Question("found <", #Predicate { $0.found < date }),
            Question("found == or >=", #Predicate { $0.found == date || $0.found >= later }),
            Question("found between", #Predicate { date <= $0.found && $0.found < later }),
            Question("seen ==", #Predicate { $0.seen == date }),
            Question("seen ?? >", #Predicate { ($0.seen ?? later) > date }),
        ]
    }

    static func kinds(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let kind = random.pick(Kind.allCases)
        let kinds = random.several(Kind.allCases, 0...2)
        let grade = random.pick(Grade.allCases)
        let grades = Set(random.several(Grade.allCases, 1...2))
        let levels: [Grade?] = [nil, grade]
        let higher = random.pick(Grade.allCases)
        let raw = max(-2, random.pick(Kind.allCases).rawValue)
        let gradeRaw = grade.rawValue
        let raws = random.several(Kind.allCases, 0...2).map(\.rawValue) + [99]
        let token = random.pick(samples.tokens)
        let tokens = random.several(samples.tokens, 1...3)
        let blob = random.pick(samples.blobs)
        let name = random.pick(samples.texts)
        return [
            Question("kind ==", #Predicate { $0.kind == kind }),
            Question("kind !=", #Predicate { $0.kind != kind }),
            Question("kind <, its own order", #Predicate { $0.kind < kind }),
            Question("array contains kind", #Predicate { kinds.contains($0.kind) }),
            Question("kind and name", #Predicate { $0.kind == kind && $0.name == name }),
            Question("grade >=", #Predicate { $0.grade >= grade }),
            Question("set contains grade", #Predicate { grades.contains($0.grade) }),
            Question("kind.rawValue ==", #Predicate { $0.kind.rawValue == raw }),
            Question("kind.rawValue !=", #Predicate { $0.kind.rawValue != raw }),
            Question("kind.rawValue <", #Predicate { $0.kind.rawValue < raw }),
            Question("kind.rawValue in a range", #Predicate { (-2...raw).contains($0.kind.rawValue) }),
            Question("array contains kind.rawValue", #Predicate { raws.contains($0.kind.rawValue) }),
            Question("level?.rawValue ==", #Predicate { $0.level?.rawValue == gradeRaw }),
            Question("level?.rawValue == nil", #Predicate { $0.level?.rawValue == nil }),
            Question("level?.rawValue ?? >=", #Predicate { ($0.level?.rawValue ?? 1) >= raw }),
            Question("level ??", #Predicate { ($0.level ?? grade) == grade }),
            Question("level ?? <", #Predicate { ($0.level ?? grade) < higher }),
            Question("checked ?? false", #Predicate { $0.isChecked ?? false }),
            Question("checked ?? true", #Predicate { !($0.isChecked ?? true) }),
            Question("note ?? ==", #Predicate { ($0.note ?? name) == name }),
            Question("level ==", #Predicate { $0.level == grade }),
            Question("array contains level", #Predicate { levels.contains($0.level) }),
            Question("token ==", #Predicate { $0.token == token }),
            Question("token <", #Predicate { $0.token < token }),
            Question("token >=", #Predicate { $0.token >= token }),
            Question("array contains token", #Predicate { tokens.contains($0.token) }),
            Question("blob ==", #Predicate { $0.blob == blob }),
            Question("blob !=", #Predicate { $0.blob != blob }),
            Question("blob count", #Predicate { $0.blob.count > 1 }),
        ]
    }
}
