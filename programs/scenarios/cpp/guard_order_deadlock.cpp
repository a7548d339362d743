// An object's method locks itself and then its peer, for a comparison; two threads compare the same two objects
// the other way round.
//
// NORACE
#include <mutex>
#include <thread>

struct box {
    std::mutex lock;
    int value = 0;

    bool equals(box &peer) {
        std::lock_guard<std::mutex> mine(lock);
        std::lock_guard<std::mutex> theirs(peer.lock); // DEADLOCK: waits for lock holding lock, with line 14
        return value == peer.value;
    }
};

box left, right;
bool results[2];

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread other([] { results[0] = left.equals(right); });
    dawdle();
    results[1] = right.equals(left);
    other.join();
}
