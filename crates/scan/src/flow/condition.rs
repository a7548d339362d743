//! What a condition is about: the value behind its comparisons, and the last of several that are joined by `||` or `&&`.

use crate::ir::{Comparison, Kind, Operand, ValueId};
use crate::values::Values;

/// How many conditions are looked through.
const MOST_CONDITIONS: usize = 4;

/// Of several conditions the last, and whether it is not 0: if `a || b` does not hold, `b` does not; if `a && b` does, so does `b`.
pub(super) fn last_condition(values: &Values, value: ValueId, is_nonzero: bool) -> (ValueId, bool) {
    let (mut value, mut is_nonzero) = (value, is_nonzero);
    for _ in 0..MOST_CONDITIONS {
        match before_last(values, value, is_nonzero) {
            Some(last) => (value, is_nonzero) = last,
            None => break,
        }
    }
    (value, is_nonzero)
}

/// The last of two conditions.
fn before_last(values: &Values, value: ValueId, is_nonzero: bool) -> Option<(ValueId, bool)> {
    let Kind::Copy { from, .. } = values.definition(values.same(value))? else {
        return None;
    };
    let mut last = None;
    for (operand, _) in from {
        match operand {
            // It would have been decided before.
            Operand::Integer(number) if (*number != 0) != is_nonzero => {}
            Operand::Value(_) if last.is_none() => last = Some(*operand),
            _ => return None,
        }
    }
    let (inner, if_nonzero) = decided(values, last?)?;
    (from.len() > 1).then_some((inner, is_nonzero == if_nonzero))
}

/// The value that a condition is about, and whether the condition holds if that is not 0.
pub(super) fn decided(values: &Values, condition: Operand) -> Option<(ValueId, bool)> {
    let Operand::Value(mut value) = condition else {
        return None;
    };
    let mut if_nonzero = true;
    for _ in 0..8 {
        value = values.same(value);
        match values.definition(value)? {
            Kind::Compare { how, operands, .. } => {
                let [left, right] = *operands;
                let zero = [Operand::Integer(0), Operand::Null];
                let (inner, other) = match (left, right) {
                    (Operand::Value(inner), other) | (other, Operand::Value(inner)) => {
                        (inner, other)
                    }
                    _ => return None,
                };
                if !zero.contains(&other) {
                    return None;
                }
                match how {
                    Comparison::Equal => if_nonzero = !if_nonzero,
                    Comparison::Unequal => {}
                    _ => return None,
                }
                value = inner;
            }
            _ => break,
        }
    }
    Some((value, if_nonzero))
}
