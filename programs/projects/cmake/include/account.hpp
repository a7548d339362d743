// Money that threads move.
#pragma once

#include <mutex>

class Account {
public:
    explicit Account(long balance) : balance_(balance) {}
    long balance() const { return balance_; }

    // Moves money from one account to another.
    friend void move(Account &from, Account &to, long amount);

private:
    std::mutex lock_;
    long balance_;
};
