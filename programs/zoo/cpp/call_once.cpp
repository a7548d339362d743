// std::call_once: the table is built once, and whoever comes later sees it finished.
//
// NORACE
// EXPECT-STDOUT: builds 1 sum 14
#include <cstdio>
#include <mutex>
#include <thread>

int builds, table;
int seen[2];
std::once_flag once;

static void build() {
    builds++; // NORACE: builds
    table = 7; // NORACE: table
}

static void use(int *my_seen) {
    std::call_once(once, build);
    *my_seen = table; // NORACE: table
}

int main() {
    std::thread first(use, &seen[0]), second(use, &seen[1]);
    first.join();
    second.join();
    std::printf("builds %d sum %d\n", builds, seen[0] + seen[1]);
}
