// C++20 atomic wait and notify: the waiter sleeps until the stage has changed.
//
// CFLAGS: -std=c++20
// NORACE
// EXPECT-STDOUT: value 42
#include <atomic>
#include <cstdio>
#include <thread>

int value;
std::atomic<int> stage;

int main() {
    std::thread thread([] {
        value = 42; // NORACE: value
        stage.store(1);
        stage.notify_one();
    });
    stage.wait(0);
    std::printf("value %d\n", value); // NORACE: value
    thread.join();
}
