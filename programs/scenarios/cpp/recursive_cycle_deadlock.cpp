// Two recursive mutexes: taking one's own again is free, taking the other's is not. The cycle closes at the
// inner lock, whichever time it is.
//
// NORACE
#include <mutex>
#include <thread>

std::recursive_mutex a, b;
int total;

static void again_and_other(std::recursive_mutex &own, std::recursive_mutex &other) {
    std::lock_guard<std::recursive_mutex> first(own);
    std::lock_guard<std::recursive_mutex> again(own);
    std::lock_guard<std::recursive_mutex> second(other); // DEADLOCK: waits for other holding other, with line 14
    total++; // NORACE: total
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread thread([] { again_and_other(b, a); });
    dawdle();
    again_and_other(a, b);
    thread.join();
}
