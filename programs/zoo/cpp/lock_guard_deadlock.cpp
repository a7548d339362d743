// Two guards in opposite orders. The thread is usually through before main begins.
//
// NORACE
#include <mutex>
#include <thread>

int total;
std::mutex a, b;

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread thread([] {
        std::lock_guard<std::mutex> first(b);
        std::lock_guard<std::mutex> second(a); // DEADLOCK: waits for a holding b, with line 25
        total++; // NORACE: total
    });
    dawdle();
    {
        std::lock_guard<std::mutex> first(a);
        std::lock_guard<std::mutex> second(b); // DEADLOCK: waits for b holding a, with line 19
        total++; // NORACE: total
    }
    thread.join();
}
