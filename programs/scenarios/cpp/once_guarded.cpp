// std::call_once makes a table that is then only read, by everybody and without a lock.
//
// NORACE
// EXPECT-STDOUT: 6 6
#include <cstdio>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

std::once_flag made;
std::vector<int> table;
int sums[2];

static void use(int mine) {
    std::call_once(made, [] { table = {1, 2, 3}; }); // NORACE: table
    sums[mine] = std::accumulate(table.begin(), table.end(), 0); // NORACE: table
}

int main() {
    std::thread other(use, 1);
    use(0);
    other.join();
    std::printf("%d %d\n", sums[0], sums[1]);
}
