// std::jthread stops its thread through a stop token, with a stop callback, and joins by itself.
//
// CFLAGS: -std=c++20
// NORACE
// EXPECT-STDOUT: stopped 1 worked 1
#include <cstdio>
#include <stop_token>
#include <thread>

int stopped;
int worked;

int main() {
    {
        std::jthread worker([](std::stop_token token) {
            std::stop_callback on_stop(token, [] {
                stopped = 1; // NORACE: stopped
            });
            while (!token.stop_requested())
                std::this_thread::yield();
            worked = 1; // NORACE: worked
        });
        worker.request_stop();
    }
    std::printf("stopped %d worked %d\n", stopped, worked); // NORACE: stopped, worked
}
