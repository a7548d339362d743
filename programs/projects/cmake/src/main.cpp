// Two threads move money in opposite directions.
#include <cstdio>
#include <thread>

#include "account.hpp"

int main() {
    Account ours(100), theirs(100);
    std::thread pays([&] { move(ours, theirs, 30); });
    std::thread gets([&] { move(theirs, ours, 10); });
    pays.join();
    gets.join();
    std::printf("%ld %ld\n", ours.balance(), theirs.balance());
    return 0;
}
