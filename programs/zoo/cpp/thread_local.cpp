// A thread_local object per thread, built on first use and destroyed at the end of the thread; its
// destructor settles the count under a mutex.
//
// NORACE
// EXPECT-STDOUT: total 30
#include <cstdio>
#include <mutex>
#include <thread>

int total;
std::mutex lock;

struct Tally {
    int count = 0;
    ~Tally() {
        std::lock_guard<std::mutex> guard(lock);
        total += count; // NORACE: total
    }
};

thread_local Tally tally;

static void count(int times) {
    for (int i = 0; i < times; i++)
        tally.count++; // NORACE: tally
}

int main() {
    std::thread first(count, 10), second(count, 20);
    first.join();
    second.join();
    std::printf("total %d\n", total); // NORACE: total
}
