// A worker that is joined by its owner's destructor, which runs under a lock that the worker's last job needs.
//
// NORACE
#include <memory>
#include <mutex>
#include <thread>

std::mutex registry;
int jobs;

static void job() {
    std::lock_guard<std::mutex> guard(registry); // DEADLOCK: waits for registry, with line 19
    jobs++; // NORACE: jobs
}

struct worker {
    std::thread thread{job};
    ~worker() {
        thread.join(); // DEADLOCK: waits for thread holding registry, with line 12
    }
};

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    auto owned = std::make_unique<worker>();
    dawdle();
    std::lock_guard<std::mutex> guard(registry);
    owned.reset();
}
