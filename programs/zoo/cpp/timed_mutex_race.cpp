// A guard that tries for no time at all and goes on without the lock when it did not get it.
#include <chrono>
#include <mutex>
#include <thread>

int total;
std::timed_mutex lock;

int main() {
    std::thread thread([] {
        std::unique_lock<std::timed_mutex> guard(lock, std::chrono::seconds(0));
        total++; // RACE: total with line 16
    });
    {
        std::lock_guard<std::timed_mutex> guard(lock);
        total++; // RACE: total with line 12
    }
    thread.join();
}
