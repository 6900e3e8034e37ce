// SPDX-License-Identifier: Apache-2.0

import Foundation

@testable import Roost

@Entity struct Pebble: Equatable {
    var id: Int
    var a: Int
    var b: Int
    var weight: Double
    var name: String

    static let indexes: [Index<Pebble>] = [Index(\.a)]

    static let all = (0..<40).map { id in
        Pebble(id: id, a: id / 2, b: 100 + id, weight: Double(id) / 4, name: "pebble \(id)")
    }
}

typealias Expressions = PredicateExpressions
typealias Condition = any StandardPredicateExpression<Bool>
typealias Number = any StandardPredicateExpression<Int>
typealias Root = PredicateExpressions.Variable<Pebble>

/// Builds predicates by hand, as programs do that generate them.
enum Built {
    enum Shape: CaseIterable { case leftLeaning, rightLeaning, balanced }

    /// Built where the values, which are as large as the chain, have room.
    static func predicate(_ build: @Sendable (Root) -> Condition) throws -> Predicate<Pebble> {
        try LargeStack.run { Predicate<Pebble> { build($0) } }
    }

    static func joined<Part>(_ parts: [Part], _ shape: Shape, _ join: (Part, Part) -> Part) -> Part {
        switch shape {
        case .leftLeaning: return parts.dropFirst().reduce(parts[0], join)
        case .rightLeaning: return parts.dropLast().reversed().reduce(parts[parts.count - 1]) { join($1, $0) }
        case .balanced:
            if parts.count == 1 { return parts[0] }
            let half = parts.count / 2
            return join(joined(Array(parts[..<half]), shape, join), joined(Array(parts[half...]), shape, join))
        }
    }

    static func or(_ lhs: Condition, _ rhs: Condition) -> Condition {
        func open<L: StandardPredicateExpression<Bool>, R: StandardPredicateExpression<Bool>>(_ l: L, _ r: R)
            -> Condition
        {
            Expressions.build_Disjunction(lhs: l, rhs: r)
        }
        return open(lhs, rhs)
    }

    static func and(_ lhs: Condition, _ rhs: Condition) -> Condition {
        func open<L: StandardPredicateExpression<Bool>, R: StandardPredicateExpression<Bool>>(_ l: L, _ r: R)
            -> Condition
        {
            Expressions.build_Conjunction(lhs: l, rhs: r)
        }
        return open(lhs, rhs)
    }

    static func not(_ condition: Condition) -> Condition {
        func open<W: StandardPredicateExpression<Bool>>(_ wrapped: W) -> Condition {
            Expressions.build_Negation(wrapped)
        }
        return open(condition)
    }

    static func sum(_ lhs: Number, _ rhs: Number) -> Number {
        func open<L: StandardPredicateExpression<Int>, R: StandardPredicateExpression<Int>>(_ l: L, _ r: R) -> Number {
            Expressions.build_Arithmetic(lhs: l, rhs: r, op: .add)
        }
        return open(lhs, rhs)
    }

    static func field(_ root: Root, _ path: any KeyPath<Pebble, Int> & Sendable) -> Number {
        Expressions.build_KeyPath(root: root, keyPath: path)
    }

    static func constant(_ value: Int) -> Number { Expressions.build_Arg(value) }

    static func equal(_ lhs: Number, _ rhs: Number) -> Condition {
        func open<L: StandardPredicateExpression<Int>, R: StandardPredicateExpression<Int>>(_ l: L, _ r: R) -> Condition
        {
            Expressions.build_Equal(lhs: l, rhs: r)
        }
        return open(lhs, rhs)
    }

    static func same(_ lhs: Condition, _ rhs: Condition) -> Condition {
        func open<L: StandardPredicateExpression<Bool>, R: StandardPredicateExpression<Bool>>(_ l: L, _ r: R)
            -> Condition
        {
            Expressions.build_Equal(lhs: l, rhs: r)
        }
        return open(lhs, rhs)
    }

    /// Only the decoded object can answer it.
    static func nameContains(_ root: Root, _ text: String) -> Condition {
        Expressions.build_contains(
            Expressions.build_KeyPath(root: root, keyPath: \.name), Expressions.build_Arg(text))
    }

    static func unknown(_ condition: Condition) -> Condition {
        func open<W: StandardPredicateExpression<Bool>>(_ wrapped: W) -> Condition { Unknown(wrapped: wrapped) }
        return open(condition)
    }
}

/// A node of which Roost knows nothing.
struct Unknown<Wrapped: StandardPredicateExpression>: StandardPredicateExpression where Wrapped.Output == Bool {
    let wrapped: Wrapped
    func evaluate(_ bindings: PredicateBindings) throws -> Bool { try wrapped.evaluate(bindings) }
}
