// A queue that is closed by a plain flag: the producer pushes under the lock and raises the flag without it. The
// consumer looks at the flag before it takes the lock. It usually looks when all is over; an earlier look
// would only have made it come back later, so the race is meant to be benign.
//
#include <deque>
#include <mutex>
#include <thread>

std::mutex lock;
std::deque<int> items;
bool closed;
int sum;

static void produce() {
    {
        std::lock_guard<std::mutex> guard(lock);
        items.push_back(1); // NORACE: items
    }
    closed = true; // RACE: closed with line 37
    std::lock_guard<std::mutex> guard(lock);
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread producer(produce);
    dawdle();
    {
        std::lock_guard<std::mutex> guard(lock);
        for (int item : items) // NORACE: items
            sum += item;
    }
    int was_closed = closed; // RACE: closed with line 19
    sum += was_closed;
    producer.join();
}
