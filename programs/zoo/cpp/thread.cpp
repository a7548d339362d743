// std::thread: arguments go in by construction, results come back by join.
//
// NORACE
// EXPECT-STDOUT: sum 30
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    int sums[2] = {0, 0};
    const std::vector<int> numbers = {1, 2, 3, 4, 5};
    std::thread first([&] {
        for (int number : numbers)
            sums[0] += number; // NORACE: sums, numbers
    });
    std::thread second([&] {
        for (int number : numbers)
            sums[1] += number; // NORACE: sums, numbers
    });
    first.join();
    second.join();
    std::printf("sum %d\n", sums[0] + sums[1]); // NORACE: sums
}
