// A spin lock whose holder clears the flag one line too early.
#include <atomic>
#include <thread>

int total;
std::atomic_flag busy = ATOMIC_FLAG_INIT;

static void add() {
    while (busy.test_and_set(std::memory_order_acquire))
        std::this_thread::yield();
    busy.clear(std::memory_order_release);
    total++; // RACE: total with line 12
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
}
