// std::call_once with an attempt that throws: it does not count, and the next caller tries again.
// (Stock TSan's pthread_once does not survive the exception and hangs.)
//
// NORACE
// EXPECT-STDOUT: attempts 2 sum 14
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

int attempts, table;
int seen[2];
std::once_flag once;

static void build() {
    if (attempts++ == 0) // NORACE: attempts
        throw std::runtime_error("not yet");
    table = 7; // NORACE: table
}

static void use(int *my_seen) {
    try {
        std::call_once(once, build);
    } catch (const std::runtime_error &) {
        std::call_once(once, build);
    }
    *my_seen = table; // NORACE: table
}

int main() {
    std::thread first(use, &seen[0]), second(use, &seen[1]);
    first.join();
    second.join();
    std::printf("attempts %d sum %d\n", attempts, seen[0] + seen[1]);
}
