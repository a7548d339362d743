// Both accounts are locked, in the order in which they are named.
#include "account.hpp"

void move(Account &from, Account &to, long amount) {
    std::lock_guard<std::mutex> first(from.lock_);
    std::lock_guard<std::mutex> second(to.lock_); // DEADLOCK: with itself
    from.balance_ -= amount;
    to.balance_ += amount;
}
