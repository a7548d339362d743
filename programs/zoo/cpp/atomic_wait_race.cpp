// The notifying thread changes the value once more after it has moved the stage on.
//
// CFLAGS: -std=c++20
#include <atomic>
#include <thread>

int value;
int seen;
std::atomic<int> stage;

int main() {
    std::thread thread([] {
        value = 41; // NORACE: value
        stage.store(1);
        stage.notify_one();
        value = 42; // RACE: value with line 19
    });
    stage.wait(0);
    seen = value; // RACE: value with line 16
    thread.join();
}
