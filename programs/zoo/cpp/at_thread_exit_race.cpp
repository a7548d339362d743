// The value is there before the thread is at its end: what the thread does meanwhile is not ordered.
#include <future>
#include <thread>

int late;

int main() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] {
        promise.set_value(1);
        late = 2; // RACE: late with line 15
    });
    int value = future.get();
    int seen = late; // RACE: late with line 12
    thread.join();
    return value == 1 && seen >= 0 ? 0 : 1;
}
