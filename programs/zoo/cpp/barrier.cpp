// A C++20 barrier with a completion function that runs between two rounds, alone.
//
// CFLAGS: -std=c++20
// NORACE
// EXPECT-STDOUT: sum 9
#include <barrier>
#include <cstdio>
#include <thread>

int cell[3];
int sum;

static void add_up() noexcept {
    for (int value : cell) // NORACE: cell
        sum += value; // NORACE: sum
}

std::barrier barrier(3, add_up);

static void work(int me) {
    for (int round = 0; round < 3; round++) {
        cell[me] = round; // NORACE: cell
        barrier.arrive_and_wait();
    }
}

int main() {
    std::thread first(work, 0), second(work, 1), third(work, 2);
    first.join();
    second.join();
    third.join();
    std::printf("sum %d\n", sum);
}
