// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

extension SpecimenQuestions {
    static func references(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let museum = random.pick(samples.museums)
        let ref = Ref<Museum>(museum)
        let museums = Set(random.several(samples.museums, 1...3))
        let refs = random.several(samples.museums, 1...3).map { Ref<Museum>($0) }
        let a = random.int(-20...20)
        let b = a + random.int(0...15)
        let weight = random.pick(samples.doubles)
        let parent = random.int(0...9)
        let missing: Int? = random.chance(30) ? nil : random.int(0...9)
        let parents: [Int?] = [parent, missing]
        let few = random.several(Array(0...9), 0...3)
        let parentRef: Ref<Specimen>? = random.chance(30) ? nil : Ref(parent)
        return [
            Question("museum ==", #Predicate { $0.museum == ref }),
            Question("museum.id ==", #Predicate { $0.museum.id == museum }),
            Question("museum.id !=", #Predicate { $0.museum.id != museum }),
            Question("museum.id and score >", #Predicate { $0.museum.id == museum && $0.score > a }),
            Question("score range and museum", #Predicate { $0.score >= a && $0.score <= b && $0.museum == ref }),
            Question("museums and score <", #Predicate { museums.contains($0.museum.id) && $0.score < b }),
            Question("refs contain museum", #Predicate { refs.contains($0.museum) }),
            Question("museum and weight ==", #Predicate { $0.museum.id == museum && $0.weight == weight }),
            Question("museum and score ==", #Predicate { $0.museum == ref && $0.score == a }),
            Question("museum starts with", #Predicate { $0.museum.id.starts(with: "Bergen") }),
            Question("parent == nil", #Predicate { $0.parent == nil }),
            Question("parent ==", #Predicate { $0.parent == parentRef }),
            Question("parent?.id ==", #Predicate { $0.parent?.id == parent }),
            Question("parent?.id ?? >", #Predicate { ($0.parent?.id ?? 5) > parent }),
            Question("parent?.id !=", #Predicate { $0.parent?.id != parent }),
            Question("x == parent?.id", #Predicate { missing == $0.parent?.id }),
            Question("parent?.id == nil", #Predicate { $0.parent?.id == nil }),
            Question("parent?.id != nil", #Predicate { $0.parent?.id != nil }),
            Question(
                "parents contain parent?.id", #Predicate { s in parents.contains(s.parent.flatMap { p in p.id }) }),
            Question("parent?.id or parent?.id", #Predicate { $0.parent?.id == parent || $0.parent?.id == missing }),
            Question("< parent?.id ??", #Predicate { parent < ($0.parent?.id ?? 3) }),
            Question("parent?.id ?? ==", #Predicate { ($0.parent?.id ?? 3) == parent }),
            Question("parent?.id ?? !=", #Predicate { ($0.parent?.id ?? 3) != parent }),
            Question("parent?.id == and score", #Predicate { $0.parent?.id == parent && $0.score > a }),
            Question(
                "if let parent, <=", #Predicate { if let p = $0.parent { p.id <= parent } else { false } }),
            Question(
                "if let parent, or", #Predicate { if let p = $0.parent { p.id > parent } else { true } }),
            Question(
                "if let parent, !=", #Predicate { if let p = $0.parent { p.id != parent } else { false } }),
            Question(
                "if let parent, another field",
                #Predicate { s in if let p = s.parent { p.id == parent || s.score == a } else { false } }),
            Question(
                "if let parent, contained",
                #Predicate { if let p = $0.parent { few.contains(p.id) } else { false } }),
            Question(
                "if let parent, an object's test",
                #Predicate { s in if let p = s.parent { p.id > s.score } else { true } }),
            Question("parent.flatMap", #Predicate { $0.parent.flatMap { (3...6).contains($0.id) } ?? false }),
        ]
    }

    static func arrays(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let a = random.pick(samples.texts)
        let b = random.pick(samples.texts)
        let count = random.pick([-1, 0, 1, 2, 3, Int.max])
        let sample = random.pick(samples.doubles)
        let list = [a, b]
        let score = random.int(-20...20)
        return [
            Question("tags contain", #Predicate { $0.tags.contains(a) }),
            Question("tags do not contain", #Predicate { !$0.tags.contains(a) }),
            Question("tags contain both", #Predicate { $0.tags.contains(a) && $0.tags.contains(b) }),
            Question("tags contain either", #Predicate { $0.tags.contains(a) || $0.tags.contains(b) }),
            Question("tags contain and score", #Predicate { $0.tags.contains(a) && $0.score > score }),
            Question("tags are empty", #Predicate { $0.tags.isEmpty }),
            Question("tags ==", #Predicate { $0.tags == list }),
            Question("tags contain where", #Predicate { $0.tags.contains { $0.starts(with: a) } }),
            Question("all tags", #Predicate { $0.tags.allSatisfy { $0.count < 3 } }),
            Question("tags contain name", #Predicate { $0.tags.contains($0.name) }),
            Question("counts contain", #Predicate { $0.counts.contains(count) }),
            Question("counts contain two", #Predicate { $0.counts.contains(count) && $0.counts.contains(2) }),
            Question("counts contain where", #Predicate { $0.counts.contains { $0 > count } }),
            Question("filter of counts", #Predicate { $0.counts.filter { $0 > 0 }.count > 1 }),
            Question("greatest count", #Predicate { ($0.counts.max() ?? 0) > 1 }),
            Question("first count", #Predicate { $0.counts.first == count }),
            Question("samples contain", #Predicate { $0.samples.contains(sample) }),
            Question("aliases == nil", #Predicate { $0.aliases == nil }),
            Question("aliases?.contains", #Predicate { $0.aliases?.contains(a) ?? false }),
            Question("aliases?.contains == true", #Predicate { $0.aliases?.contains(a) == true }),
        ]
    }

    static func optionals(_ samples: Samples, using random: inout SeededRandom) -> [Question<Specimen>] {
        let rank = random.pick(samples.ranks)
        let other = random.pick(samples.ranks) ?? 3
        let ranks = random.several(samples.ranks, 1...4)
        let none: Int32? = nil
        return [
            Question("rank ==", #Predicate { $0.rank == rank }),
            Question("rank !=", #Predicate { $0.rank != rank }),
            Question("rank == nil", #Predicate { $0.rank == nil }),
            Question("nil == rank", #Predicate { nil == $0.rank }),
            Question("rank != nil", #Predicate { $0.rank != nil }),
            Question("rank == captured nil", #Predicate { $0.rank == none }),
            Question("rank ?? >", #Predicate { ($0.rank ?? 0) > other }),
            Question("if let rank", #Predicate { if let rank = $0.rank { rank <= other } else { false } }),
            Question("rank flatMap", #Predicate { $0.rank.flatMap { $0 > other } ?? true }),
            Question("array contains rank", #Predicate { ranks.contains($0.rank) }),
            Question("rank == or nil", #Predicate { $0.rank == other || $0.rank == nil }),
            Question("rank != nil and forced", #Predicate { $0.rank != nil && $0.rank! >= other }),
            Question("checked", #Predicate { $0.isChecked == true }),
            Question("checked ??", #Predicate { $0.isChecked ?? false }),
            Question("nil twice", #Predicate { $0.rank == nil && $0.note == nil }),
        ]
    }
}
