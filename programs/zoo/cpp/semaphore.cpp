// C++20 semaphores: a slot passed back and forth between producer and consumer.
//
// CFLAGS: -std=c++20
// NORACE
// EXPECT-STDOUT: sum 10
#include <cstdio>
#include <semaphore>
#include <thread>

int slot;
std::counting_semaphore<4> filled(0);
std::binary_semaphore empty(1);

int main() {
    int sum = 0;
    std::thread producer([] {
        for (int i = 0; i < 5; i++) {
            empty.acquire();
            slot = i; // NORACE: slot
            filled.release();
        }
    });
    for (int i = 0; i < 5; i++) {
        while (!filled.try_acquire())
            std::this_thread::yield();
        sum += slot; // NORACE: slot
        empty.release();
    }
    producer.join();
    std::printf("sum %d\n", sum);
}
