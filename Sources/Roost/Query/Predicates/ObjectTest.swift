// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Conditions that only the decoded object can answer, evaluated in their order on one object.
///
/// Unchecked: the closures hold parts of a `Predicate`, which is Sendable as a whole, and only read them.
struct ObjectTest: @unchecked Sendable {
    private struct Condition {
        let holds: Compiled<Bool>
        /// The fields that it reads.
        let fields: [Int]
    }

    /// Decodes the object and evaluates the test on it.
    typealias Run = (ObjectTest, RecordView) throws -> Bool

    private var conditions: [Condition]
    private var junction: Filter.Junction = .and
    private let run: Run
    /// Whether it may fail on some object: then it must not be evaluated earlier or later than the predicate would.
    private(set) var canThrow: Bool

    init(_ holds: Compiled<Bool>, reading fields: [Int], _ run: @escaping Run) {
        conditions = [Condition(holds: holds, fields: fields)]
        self.run = run
        canThrow = holds.traits.contains(.canFail)
    }

    func evaluate(_ view: RecordView) throws -> Bool { try run(self, view) }

    /// What is the same for every test on objects of a type.
    static func run<T: Entity>(_: T.Type, _ entity: StoredEntity) -> Run {
        let (handle, none) = (entity.handle, PredicateBindings())
        return { test, view in
            let object = try T.decoded(key: view.key, record: view.record, handle: handle)
            return try withUnsafePointer(to: object) { address in
                let evaluation = Evaluation(object: address, bindings: none)
                let decisive = test.junction == .or
                for condition in test.conditions {
                    do {
                        if try condition.holds(evaluation) == decisive { return decisive }
                    } catch {
                        throw failure(error, entity, "\(object.id)", condition.fields)
                    }
                }
                return !decisive
            }
        }
    }

    private static func failure(_ error: any Error, _ entity: StoredEntity, _ id: String, _ fields: [Int]) -> any Error
    {
        if error is StoreError { return error }
        let names = fields.map { entity.layout.fields[$0].name }
        let place = names.isEmpty ? "" : " (it reads \(names.joined(separator: ", ")))"
        return StoreError(
            .predicateFailed, "The predicate cannot be evaluated on \(entity.name) \(id)\(place): \(error).",
            entity: entity.name, id: id, field: names.count == 1 ? names[0] : nil)
    }

    /// The filters that `junction` joins, with neighbouring tests made one, so that the object is decoded once for them.
    static func joined(_ filters: [Filter], _ junction: Filter.Junction) -> [Filter] {
        var joined: [Filter] = []
        var neighbours: ObjectTest?
        func finish() {
            if let test = neighbours { joined.append(.object(test)) }
            neighbours = nil
        }
        for filter in filters {
            guard case .object(let test) = filter, test.conditions.count == 1 || test.junction == junction else {
                finish()
                joined.append(filter)
                continue
            }
            if neighbours == nil {
                neighbours = test
                neighbours?.junction = junction
            } else {
                neighbours?.append(test)
            }
        }
        finish()
        return joined
    }

    private mutating func append(_ other: ObjectTest) {
        conditions += other.conditions
        canThrow = canThrow || other.canThrow
    }
}
