// SPDX-License-Identifier: Apache-2.0

/// A type of which fields can be added up: the integers, Float and Double, and Optional of them, where nil adds
/// nothing.
///
/// Signed integers add up to an Int, the others to a UInt, floating-point numbers to a Double. No other type can
/// conform.
public protocol SummableValue: FieldValue {
    /// What the values add up to.
    associatedtype Sum: Numeric & Sendable
    /// The sum as that type.
    @_documentation(visibility: internal)
    static func sum(_ total: FieldSum) throws(StoreError) -> Sum
}

/// What the values of a field add up to, exactly. Nothing in it is for callers.
@_documentation(visibility: internal)
public struct FieldSum: Sendable {
    /// Of integers, however many of 64 bits.
    private(set) var integers: Int128 = 0
    /// Made where the first value is not one.
    private(set) var numbers: ExactSum?

    init() {}

    /// Adds a stored number, or takes it away again; null adds nothing.
    mutating func add(_ value: StoredValue, isAdded: Bool) {
        switch value {
        case .int(let value): integers += isAdded ? Int128(value) : -Int128(value)
        case .uint(let value): integers += isAdded ? Int128(value) : -Int128(value)
        case .double(let value):
            if numbers == nil { numbers = ExactSum() }
            if isAdded { numbers?.add(value) } else { numbers?.subtract(value) }
        default: break
        }
    }

    fileprivate func integer<Sum: FixedWidthInteger>(_: Sum.Type) throws(StoreError) -> Sum {
        guard let sum = Sum(exactly: integers) else {
            throw StoreError(
                .sumOverflow,
                "The sum is \(integers), which \(Sum.self) cannot hold: restrict the request, or make the field a Double."
            )
        }
        return sum
    }
}

@_documentation(visibility: internal)
extension SummableValue where Self: SignedInteger & FixedWidthInteger {
    public static func sum(_ total: FieldSum) throws(StoreError) -> Int { try total.integer(Int.self) }
}

@_documentation(visibility: internal)
extension SummableValue where Self: UnsignedInteger & FixedWidthInteger {
    public static func sum(_ total: FieldSum) throws(StoreError) -> UInt { try total.integer(UInt.self) }
}

@_documentation(visibility: internal)
extension SummableValue where Self: BinaryFloatingPoint {
    public static func sum(_ total: FieldSum) throws(StoreError) -> Double { total.numbers?.value ?? 0 }
}

extension Int: SummableValue {}
extension Int8: SummableValue {}
extension Int16: SummableValue {}
extension Int32: SummableValue {}
extension Int64: SummableValue {}
extension UInt: SummableValue {}
extension UInt8: SummableValue {}
extension UInt16: SummableValue {}
extension UInt32: SummableValue {}
extension UInt64: SummableValue {}
extension Float: SummableValue {}
extension Double: SummableValue {}

@_documentation(visibility: internal)
extension Optional: SummableValue where Wrapped: SummableValue {
    public static func sum(_ total: FieldSum) throws(StoreError) -> Wrapped.Sum { try Wrapped.sum(total) }
}
