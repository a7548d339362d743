// Workers fill their cells and count down a latch; main waits for the latch and adds up. Nobody is joined before,
// and no lock is taken.
//
// NORACE
// CFLAGS: -std=c++20
// EXPECT-STDOUT: 3
#include <cstdio>
#include <latch>
#include <thread>

int cells[2];
std::latch filled(2);

static void fill(int mine) {
    cells[mine] = mine + 1; // NORACE: cells
    filled.count_down();
}

int main() {
    std::thread first(fill, 0);
    std::thread second(fill, 1);
    filled.wait();
    std::printf("%d\n", cells[0] + cells[1]); // NORACE: cells
    first.join();
    second.join();
}
