// A C++20 latch: main goes on when all workers have counted down.
//
// CFLAGS: -std=c++20
// NORACE
// EXPECT-STDOUT: sum 6
#include <cstdio>
#include <latch>
#include <thread>

int results[3];
std::latch finished(3);

static void work(int me) {
    results[me] = me + 1; // NORACE: results
    finished.count_down();
}

int main() {
    std::thread first(work, 0), second(work, 1), third(work, 2);
    finished.wait();
    std::printf("sum %d\n", results[0] + results[1] + results[2]); // NORACE: results
    first.join();
    second.join();
    third.join();
}
