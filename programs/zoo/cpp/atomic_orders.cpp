// std::atomic with each order where it belongs: a relaxed counter, release and acquire for a flag,
// acq_rel for an exchange, sequential consistency by default.
//
// NORACE
// EXPECT-STDOUT: value 42 steps 3
#include <atomic>
#include <cstdio>
#include <thread>

int value;
std::atomic<int> steps;
std::atomic<bool> ready;
std::atomic<int *> box;

static void writer() {
    value = 41; // NORACE: value
    steps.fetch_add(1, std::memory_order_relaxed);
    ready.store(true, std::memory_order_release);
}

static void updater() {
    while (!ready.load(std::memory_order_acquire))
        std::this_thread::yield();
    value++; // NORACE: value
    steps.fetch_add(1, std::memory_order_relaxed);
    box.exchange(&value, std::memory_order_acq_rel);
}

int main() {
    std::thread first(writer), second(updater);
    int *found;
    while ((found = box) == nullptr)
        std::this_thread::yield();
    steps++;
    std::printf("value %d steps %d\n", *found, steps.load()); // NORACE: value
    first.join();
    second.join();
}
