// A unique_ptr moves from thread to thread through a slot under a mutex; what it leads to is used outside. One
// owner at a time, by move.
//
// NORACE
// EXPECT-STDOUT: 3
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <thread>

std::mutex lock;
std::condition_variable changed;
std::unique_ptr<int> slot;

static void hand_over(std::unique_ptr<int> thing) {
    std::lock_guard<std::mutex> guard(lock);
    slot = std::move(thing);
    changed.notify_one();
}

static std::unique_ptr<int> take() {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return slot != nullptr; });
    return std::move(slot);
}

int main() {
    std::thread other([] {
        auto mine = take();
        *mine += 2; // NORACE: *mine
        std::printf("%d\n", *mine); // NORACE: *mine
    });
    hand_over(std::make_unique<int>(1));
    other.join();
}
