// A worker counts down before it has written its result.
//
// CFLAGS: -std=c++20
#include <latch>
#include <thread>

int result;
int seen;
std::latch finished(1);

int main() {
    std::thread thread([] {
        finished.count_down();
        result = 42; // RACE: result with line 17
    });
    finished.wait();
    seen = result; // RACE: result with line 14
    thread.join();
}
