// SPDX-License-Identifier: Apache-2.0

extension Filter {
    /// Which changed objects can matter to whoever asks for those that match: the narrowest that the predicate says of one
    /// field, for each alternative of an `||`.
    ///
    /// An object that only the predicate's evaluation tells about matters always, and so does one on which it may throw.
    func interest(in entity: StoredEntity) -> ChangeInterest {
        ChangeInterest(entity, anchors(in: entity) ?? [.all])
    }

    /// Values that are registered each for itself; a set of more is asked about every change.
    private static let mostValues = 256
    private static let mostAlternatives = 64

    /// Nil where it is any object.
    private func anchors(in entity: StoredEntity) -> [ChangeInterest.Anchor]? {
        if case .or(let alternatives) = self { return Self.anchors(ofAnyOf: alternatives, in: entity) }
        guard let conjuncts else { return [] }
        let constraints = Constraints(conjuncts)
        if constraints.excludeEverything { return [] }
        var best: (anchors: [ChangeInterest.Anchor], rank: Int)?
        func consider(_ anchors: [ChangeInterest.Anchor], rank: Int) {
            if rank < best?.rank ?? .max { best = (anchors, rank) }
        }
        for constraint in constraints.all {
            let field = entity.layout.fields[constraint.position]
            let isID = constraint.position == 0
            if isID && entity.hasForeignIDs { continue }
            guard field.scalar != nil else { continue }
            if let points = constraint.points {
                guard points.count <= Self.mostValues else { continue }
                let keys = points.compactMap { field.routeKey(of: $0) }
                let rank = (isID ? 0 : 1_000) + keys.count
                consider([isID ? .ids(keys) : .values(position: constraint.position, keys)], rank: rank)
            } else if let (range, _) = constraint.range(
                isOptional: field.type.isOptional, textLimit: .max, behind: [])
            {
                let lower = range.lower.isEmpty ? nil : range.lower
                let hasBothEnds = constraint.prefix != nil || (constraint.lower != nil && constraint.upper != nil)
                consider(
                    range.isEmpty ? [] : [.range(position: constraint.position, lower: lower, upper: range.upper)],
                    rank: range.isEmpty ? -1 : hasBothEnds ? 10_000 : 20_000)
            }
        }
        // Behind a part that may throw nothing is narrowed.
        for conjunct in conjuncts.prefix(while: { !$0.canThrow }) {
            guard case .or(let alternatives) = conjunct, best?.rank ?? .max > 5_000,
                let anchors = Self.anchors(ofAnyOf: alternatives, in: entity)
            else { continue }
            consider(anchors, rank: 5_000)
        }
        return best?.anchors
    }

    private static func anchors(
        ofAnyOf alternatives: [Filter], in entity: StoredEntity
    ) -> [ChangeInterest.Anchor]? {
        guard alternatives.count <= mostAlternatives else { return nil }
        var all: [ChangeInterest.Anchor] = []
        for (place, alternative) in alternatives.enumerated() {
            // Where one throws, those after it do not count.
            if alternative.canThrow || place > 0 && alternatives[place - 1].canThrow { return nil }
            guard let anchors = alternative.anchors(in: entity) else { return nil }
            all += anchors
        }
        return all
    }
}

extension RecordLayout.Field {
    /// The value as the field's sort key has it; nil where no object has it.
    fileprivate func routeKey(of value: StoredValue) -> [UInt8]? {
        if value == .null { return type.isOptional ? [0] : nil }
        var key = KeyBytes()
        if type.isOptional { key.append(UInt8(1)) }
        key.append(value, limit: .max)
        return key.bytes
    }
}
