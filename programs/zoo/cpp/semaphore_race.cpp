// A counting semaphore used as a lock, but with two places.
//
// CFLAGS: -std=c++20
#include <semaphore>
#include <thread>

int total;
std::counting_semaphore<2> places(2);

static void add() {
    places.acquire();
    total++; // RACE: total with line 12
    places.release();
}

int main() {
    std::thread first(add), second(add);
    first.join();
    second.join();
}
