// SPDX-License-Identifier: Apache-2.0

/// The query in the engine's terms. It needs the catalog's layout and no open file, so that a mistake in it is found
/// before anything is opened.
extension InspectionQuery {
    func lowered(_ layout: RecordLayout) throws(StoreError) -> LoweredRequest {
        var filters: [Filter] = []
        for condition in conditions { filters.append(try condition.lowered(layout, entity)) }
        return LoweredRequest(filter: .and(filters), order: try order(layout), limit: limit, offset: offset)
    }

    /// Criteria behind the ID decide nothing, but must name fields all the same.
    private func order(_ layout: RecordLayout) throws(StoreError) -> RequestedOrder {
        var order = RequestedOrder()
        for criterion in sort {
            let position = try layout.position(of: criterion.field, in: entity)
            let type = layout.fields[position].type
            guard type.scalar != nil else {
                throw StoreError(
                    .invalidValue, "\(entity).\(criterion.field) is \(type): arrays have no order to sort by.",
                    entity: entity, field: criterion.field)
            }
            order.append(.field(position), descending: criterion.descending)
        }
        return order
    }
}

extension InspectionQuery.Condition {
    fileprivate func lowered(_ layout: RecordLayout, _ entity: String) throws(StoreError) -> Filter {
        func invalid(_ why: String) -> StoreError {
            StoreError(
                .invalidValue,
                "\(entity).\(field) is \(layout.fields[position].type): \(why).", entity: entity, field: field)
        }
        let position = try layout.position(of: field, in: entity)
        let type = layout.fields[position].type
        if value == "null" && type.isOptional {
            return try test(.isNull(position: position), invalid)
        }
        if let element = type.element {
            guard let scalar = element.scalar else { throw invalid("a list of lists cannot be searched") }
            let wanted = value == "null" && element.isOptional ? .null : try parsed(scalar, invalid)
            if wanted.isNaN { return try test(.constant(false), invalid) }
            return try test(.hasElement(position: position, value: wanted), invalid)
        }
        guard let scalar = type.scalar else { throw invalid("it cannot be searched") }
        if operation == .startsWith {
            guard scalar == .string else { throw invalid("^= (starts with) is for text only") }
            return .startsWith(position: position, prefix: .init(value))
        }
        let wanted = try parsed(scalar, invalid)
        switch operation {
        case .less: return .comparison(position, .less, wanted)
        case .lessOrEqual: return .comparison(position, .lessOrEqual, wanted)
        case .greater: return .comparison(position, .greater, wanted)
        case .greaterOrEqual: return .comparison(position, .greaterOrEqual, wanted)
        case .equal, .notEqual, .startsWith: return try test(.equality(position, wanted), invalid)
        }
    }

    /// What can only be so or not so: a missing value, an element of an array.
    private func test(_ filter: Filter, _ invalid: (String) -> StoreError) throws(StoreError) -> Filter {
        switch operation {
        case .equal: return filter
        case .notEqual: return .not(filter)
        default: throw invalid("\(operation.rawValue) \(value) cannot be tested, only = and !=")
        }
    }

    private func parsed(
        _ scalar: FieldType.Scalar, _ invalid: (String) -> StoreError
    ) throws(StoreError) -> StoredValue {
        do {
            return try scalar.codec.parse(value).storedValue
        } catch {
            throw invalid("\(value.debugDescription) is not \(error.expected)")
        }
    }
}

extension RecordLayout {
    fileprivate func position(of name: String, in entity: String) throws(StoreError) -> Int {
        if let position = position(named: name) { return position }
        throw StoreError(
            .unknownField,
            "\(entity) has no field \(name.debugDescription): it has \(fields.map(\.name).joined(separator: ", ")).",
            entity: entity, field: name)
    }
}
