// The destructors of thread_local objects run in their threads, side by side: here they add without a
// lock.
#include <thread>

int total;

struct Tally {
    int count = 0;
    ~Tally() {
        total += count; // RACE: total with line 10
    }
};

thread_local Tally tally;

static void count() {
    tally.count++; // NORACE: tally
}

int main() {
    std::thread first(count), second(count);
    first.join();
    second.join();
}
