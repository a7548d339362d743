// std::unique_lock in its variations: deferred, tried, released early, moved out of a function.
//
// NORACE
// EXPECT-STDOUT: total 6
#include <cstdio>
#include <mutex>
#include <thread>

int total;
std::mutex lock;

static std::unique_lock<std::mutex> locked() {
    std::unique_lock<std::mutex> guard(lock, std::defer_lock);
    guard.lock();
    return guard;
}

static void add() {
    {
        auto guard = locked();
        total++; // NORACE: total
        guard.unlock();
        guard.lock();
        total++; // NORACE: total
    }
    std::unique_lock<std::mutex> guard(lock, std::try_to_lock);
    while (!guard.owns_lock()) {
        std::this_thread::yield();
        guard.try_lock();
    }
    total++; // NORACE: total
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    std::printf("total %d\n", total);
}
