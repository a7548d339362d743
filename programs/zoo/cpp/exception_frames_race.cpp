// When the catch block runs, unwinding has already released the mutex that the throwing frame held.
#include <mutex>
#include <stdexcept>
#include <thread>

int attempts;
std::mutex lock;

static void attempt() {
    std::lock_guard<std::mutex> guard(lock);
    attempts++; // RACE: attempts with line 19
    throw std::runtime_error("no");
}

static void work() {
    try {
        attempt();
    } catch (const std::runtime_error &) {
        attempts--; // RACE: attempts with line 11, attempts with line 19
    }
}

int main() {
    std::thread first(work), second(work);
    first.join();
    second.join();
}
