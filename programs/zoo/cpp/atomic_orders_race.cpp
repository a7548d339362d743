// A pointer published with relaxed order: no interleaving shows it, but what the pointer leads to may
// not be there yet when the pointer is.
#include <atomic>
#include <thread>

int value;
int seen;
std::atomic<int *> box;

int main() {
    std::thread reader([] {
        int *found;
        while ((found = box.load(std::memory_order_relaxed)) == nullptr)
            std::this_thread::yield();
        seen = *found; // RACE: value with line 17 (weak)
    });
    value = 42; // RACE: value with line 15 (weak)
    box.store(&value, std::memory_order_relaxed);
    reader.join();
}
