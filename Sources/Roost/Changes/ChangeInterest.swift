// SPDX-License-Identifier: Apache-2.0

/// Which commits a subscriber is to be told of, as far as that can be told without asking it. It may be told of more: what it
/// is told of, it tests.
struct ChangeInterest: Sendable {
    /// Which changed objects of an entity. An object concerns the subscriber when it has one of these, before or after the
    /// change.
    enum Anchor: Sendable {
        /// All of them.
        case all
        /// Those with these keys.
        case ids([[UInt8]])
        /// Those whose field has one of these values, as sort keys.
        case values(position: Int, [[UInt8]])
        /// Those whose field's sort key is not below the lower bound, and below the upper. Nil is none.
        case range(position: Int, lower: [UInt8]?, upper: [UInt8]?)

        /// Of the field that it names.
        var position: Int? {
            switch self {
            case .all, .ids: nil
            case .values(let position, _), .range(let position, _, _): position
            }
        }
    }

    /// By entity; nil is every commit.
    let entities: [(entity: StoredEntity, anchors: [Anchor])]?

    /// Every commit.
    static let everything = ChangeInterest(entities: nil)

    private init(entities: [(entity: StoredEntity, anchors: [Anchor])]?) { self.entities = entities }

    /// Of several anchors each is enough. Without anchors only commits concern it of which it is not known what they changed.
    init(_ entity: StoredEntity, _ anchors: [Anchor]) { entities = [(entity, anchors)] }

    /// What concerns one of them.
    init(joining interests: [ChangeInterest]) {
        var all: [(entity: StoredEntity, anchors: [Anchor])] = []
        for interest in interests {
            guard let entities = interest.entities else {
                self = .everything
                return
            }
            for (entity, anchors) in entities {
                if let known = all.firstIndex(where: { $0.entity === entity }) {
                    all[known].anchors += anchors
                } else {
                    all.append((entity, anchors))
                }
            }
        }
        entities = all
    }
}
