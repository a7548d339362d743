// std::scoped_lock takes several mutexes at once and backs off when it does not get them all: the order
// in which they are named does not matter.
//
// CFLAGS: -std=c++17
// NORACE
// NODEADLOCK
// EXPECT-STDOUT: total 20
#include <cstdio>
#include <mutex>
#include <thread>

int total;
std::mutex a, b;

int main() {
    std::thread thread([] {
        for (int i = 0; i < 10; i++) {
            std::scoped_lock guard(b, a);
            total++; // NORACE: total
        }
    });
    for (int i = 0; i < 10; i++) {
        std::scoped_lock guard(a, b);
        total++; // NORACE: total
    }
    thread.join();
    std::printf("total %d\n", total);
}
