// To ask a thread to stop is not to wait for its end.
//
// CFLAGS: -std=c++20
#include <stop_token>
#include <thread>

int worked;
int seen;

int main() {
    std::jthread worker([](std::stop_token token) {
        while (!token.stop_requested())
            std::this_thread::yield();
        worked = 1; // RACE: worked with line 17
    });
    worker.request_stop();
    seen = worked; // RACE: worked with line 14
}
