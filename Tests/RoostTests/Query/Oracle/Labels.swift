// SPDX-License-Identifier: Apache-2.0

import Foundation
import Roost

/// An entity with a String ID, so that index keys end in text.
@Entity struct Label {
    var id: String
    var value: Int?
    var text: String
    var other: String?
    var next: Ref<Label>?
    var marks: [String]

    static let indexes: [Index<Label>] = [
        Index(\.value), Index(\.text), Index(\.other), Index(\.text, \.value), Index(\.value, \.id),
        Index(\.other, \.text),
        Index(\.next), Index(each: \.marks),
    ]

    /// In ID order.
    static func random(_ count: Int, _ samples: Samples, using random: inout SeededRandom) -> [Label] {
        var labels: [Label] = []
        for number in 0..<count {
            let stem =
                number < samples.texts.count ? samples.texts[number] : "\(random.pick(samples.texts))#\(number % 40)"
            guard stem.utf8.count < 100, !labels.contains(where: { $0.id == stem }) else { continue }
            labels.append(
                Label(
                    id: stem, value: random.chance(20) ? nil : random.int(0...5), text: random.pick(samples.texts),
                    other: random.chance(30) ? nil : random.pick(samples.texts),
                    next: random.chance(30) ? nil : Ref(random.pick(samples.texts)),
                    marks: random.several(samples.texts, 0...3)))
        }
        return labels.sorted { Text.less($0.id, $1.id) }
    }

    static var criteria: [Criterion<Label>] {
        [.text(\.id), .optional(\.value), .text(\.text), .text(\.other), .text(\.next?.id)]
    }

    static func questions(
        _ samples: Samples, _ objects: [Label], using random: inout SeededRandom
    ) -> [Question<Label>] {
        let a = random.pick(samples.texts)
        let b = random.pick(samples.texts)
        let id = random.pick(objects).id
        let ids = Set(random.several(objects, 0...20).map(\.id) + random.several(samples.texts, 0...2))
        let prefix = String(id.prefix(1))
        let value = random.int(0...5)
        let limit = Text.less(id, a)
        return [
            Question("id ==", #Predicate { $0.id == id }),
            Question("id == any text", #Predicate { $0.id == a }),
            Question("id <", #Predicate { $0.id < id }, by: { Text.less($0.id, id) }),
            Question("id <= any text", #Predicate { $0.id <= a }, by: { !Text.less(a, $0.id) }),
            Question("id >=", #Predicate { $0.id >= id }, by: { !Text.less($0.id, id) }),
            Question(
                "id between", #Predicate { $0.id > id && $0.id < a },
                by: { limit && Text.less(id, $0.id) && Text.less($0.id, a) }),
            Question("id starts with", #Predicate { $0.id.starts(with: prefix) }),
            Question("set contains id", #Predicate { ids.contains($0.id) }),
            Question("value ==", #Predicate { $0.value == value }),
            Question("value == nil", #Predicate { $0.value == nil }),
            Question("text ==", #Predicate { $0.text == a }),
            Question("text >", #Predicate { $0.text > a }, by: { Text.less(a, $0.text) }),
            Question("text and value", #Predicate { $0.text == a && $0.value == value }),
            Question("other and text", #Predicate { $0.other == a && $0.text == b }),
            Question(
                "other and text <=", #Predicate { $0.other == nil && $0.text <= b },
                by: { $0.other == nil && !Text.less(b, $0.text) }),
            Question("next ==", #Predicate { $0.next?.id == a }),
            Question("next !=", #Predicate { $0.next?.id != a }),
            Question(
                "next ?? <=", #Predicate { ($0.next?.id ?? b) <= a }, by: { !Text.less(a, $0.next?.id ?? b) }),
            Question(
                "if let next, starts with",
                #Predicate { if let next = $0.next { next.id.starts(with: prefix) } else { false } }),
            Question("marks contain", #Predicate { $0.marks.contains(a) }),
            Question("value and id ==", #Predicate { $0.value == value && $0.id == id }),
            Question("everything", nil, by: { _ in true }),
        ]
    }
}
