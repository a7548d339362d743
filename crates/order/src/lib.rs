//! The order solver: is there an order of events that keeps to these rules?
