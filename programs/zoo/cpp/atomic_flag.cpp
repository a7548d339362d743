// A spin lock made of std::atomic_flag.
//
// NORACE
// EXPECT-STDOUT: total 20
#include <atomic>
#include <cstdio>
#include <thread>

int total;
std::atomic_flag busy = ATOMIC_FLAG_INIT;

static void add() {
    for (int i = 0; i < 10; i++) {
        while (busy.test_and_set(std::memory_order_acquire))
            std::this_thread::yield();
        total++; // NORACE: total
        busy.clear(std::memory_order_release);
    }
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    std::printf("total %d\n", total);
}
