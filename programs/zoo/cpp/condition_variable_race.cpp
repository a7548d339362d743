// The waiter looks at the predicate once without the lock, to skip the wait when it can.
#include <condition_variable>
#include <mutex>
#include <thread>

bool ready;
std::mutex lock;
std::condition_variable changed;

int main() {
    std::thread thread([] {
        std::lock_guard<std::mutex> guard(lock);
        ready = true; // RACE: ready with line 16
        changed.notify_one();
    });
    if (!ready) { // RACE: ready with line 13
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [] { return ready; }); // NORACE: ready
    }
    thread.join();
}
