// Exceptions unwind through several frames in both threads; the guard on the way releases the mutex,
// and the call stacks afterwards must be what they were.
//
// NORACE
// EXPECT-STDOUT: attempts 20 failures 10
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

int attempts, failures;
std::mutex lock;

static void attempt(int round, int depth) {
    if (depth > 0) {
        attempt(round, depth - 1);
        return;
    }
    std::lock_guard<std::mutex> guard(lock);
    attempts++; // NORACE: attempts
    if (round % 2 == 0)
        throw std::runtime_error("even");
}

static void work() {
    for (int round = 0; round < 10; round++) {
        try {
            attempt(round, 5);
        } catch (const std::runtime_error &) {
            std::lock_guard<std::mutex> guard(lock);
            failures++; // NORACE: failures
        }
    }
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
    std::printf("attempts %d failures %d\n", attempts, failures);
}
