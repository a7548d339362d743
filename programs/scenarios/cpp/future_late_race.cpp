// A task writes its answer, keeps its promise and then stamps the answer. Who waits for the future may be reading
// by then. It usually comes later, by way of a mutex.
//
#include <future>
#include <mutex>
#include <thread>

struct answer {
    int value, stamp;
} answer;
std::mutex lock;
bool stamped;
int seen;

static void compute(std::promise<void> promise) {
    answer.value = 42; // NORACE: answer
    promise.set_value();
    answer.stamp = 1; // RACE: answer.stamp with line 40
    std::lock_guard<std::mutex> guard(lock);
    stamped = true; // NORACE: stamped
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::promise<void> promise;
    std::future<void> ready = promise.get_future();
    std::thread other(compute, std::move(promise));
    ready.wait();
    dawdle();
    {
        std::lock_guard<std::mutex> guard(lock);
        stamped = true; // NORACE: stamped
    }
    seen = answer.value; // NORACE: answer
    seen += answer.stamp; // RACE: answer.stamp with line 18
    other.join();
}
