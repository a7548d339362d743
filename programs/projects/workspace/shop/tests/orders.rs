//! The shop as others see it.

#[test]
fn orders_are_added_up() {
    assert_eq!(shop::sell(&[12, 7]), 15);
}
