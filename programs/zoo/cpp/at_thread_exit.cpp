// What a thread does up to its end comes before whoever gets the value that it has promised for then, and
// before whoever is notified then.
//
// NORACE
// EXPECT-STDOUT: 1 2 3
#include <condition_variable>
#include <cstdio>
#include <future>
#include <mutex>
#include <thread>

int late, last;
bool done;
std::mutex mutex;
std::condition_variable condition;

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] {
        promise.set_value_at_thread_exit(1);
        late = 2; // NORACE: late
    });
    int value = future.get();
    int seen = late; // NORACE: late
    thread.join();
    std::thread notifier([] {
        std::unique_lock<std::mutex> lock(mutex);
        std::notify_all_at_thread_exit(condition, std::move(lock));
        done = true;
        last = 3; // NORACE: last
    });
    {
        std::unique_lock<std::mutex> lock(mutex);
        condition.wait(lock, [] { return done; });
    }
    std::printf("%d %d %d\n", value, seen, last); // NORACE: last
    notifier.join();
    return 0;
}
