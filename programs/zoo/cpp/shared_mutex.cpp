// std::shared_mutex: readers share, the writer is alone.
//
// CFLAGS: -std=c++17
// NORACE
// EXPECT-STDOUT: torn 0
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

int left, right;
int torn[2];
std::shared_mutex lock;

static void reader(int *my_torn) {
    for (int i = 0; i < 5; i++) {
        std::shared_lock<std::shared_mutex> guard(lock);
        if (left != right) // NORACE: left, right
            ++*my_torn;
    }
}

static void writer() {
    for (int i = 0; i < 5; i++) {
        std::unique_lock<std::shared_mutex> guard(lock);
        left++; // NORACE: left
        right++; // NORACE: right
    }
}

int main() {
    std::thread first(reader, &torn[0]), second(writer), third(reader, &torn[1]);
    first.join();
    second.join();
    third.join();
    std::printf("torn %d\n", torn[0] + torn[1]);
}
