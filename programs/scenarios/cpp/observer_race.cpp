// A list of observers under a mutex: it is copied under the lock and called without it, which is good practice.
// The counter that an observer keeps is then touched by whoever calls. Main usually calls when the other
// is through and has noted that under the lock.
//
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

std::mutex lock;
std::vector<std::function<void()>> observers;
bool notified;
int calls;

static void notify() {
    std::vector<std::function<void()>> copy;
    {
        std::lock_guard<std::mutex> guard(lock);
        copy = observers;
        notified = true; // NORACE: notified
    }
    for (auto &observer : copy)
        observer();
    std::lock_guard<std::mutex> guard(lock);
    notified = true; // NORACE: notified
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    observers.push_back([] { calls++; }); // RACE: calls with line 35
    std::thread other(notify);
    dawdle();
    notify();
    other.join();
}
