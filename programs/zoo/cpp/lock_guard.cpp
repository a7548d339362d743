// std::mutex with std::lock_guard around every use of the counter.
//
// NORACE
// EXPECT-STDOUT: total 20
#include <cstdio>
#include <mutex>
#include <thread>

int total;
std::mutex lock;

static void add() {
    for (int i = 0; i < 10; i++) {
        std::lock_guard<std::mutex> guard(lock);
        total++; // NORACE: total
    }
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
    std::printf("total %d\n", total);
}
