// The promising thread changes the result once more after it has kept its promise.
#include <future>
#include <thread>

int result;
int seen;

int main() {
    std::promise<void> promise;
    std::future<void> future = promise.get_future();
    std::thread thread([&promise] {
        result = 41; // NORACE: result
        promise.set_value();
        result = 42; // RACE: result with line 17
    });
    future.wait();
    seen = result; // RACE: result with line 14
    thread.join();
}
