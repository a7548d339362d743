// The comparison of guard_order_deadlock.cpp with std::lock, which takes all or none: the order of the two
// guards in the text is of no importance.
//
// NORACE
// NODEADLOCK
#include <mutex>
#include <thread>

struct box {
    std::mutex lock;
    int value = 0;

    bool equals(box &peer) {
        std::lock(lock, peer.lock);
        std::lock_guard<std::mutex> mine(lock, std::adopt_lock);
        std::lock_guard<std::mutex> theirs(peer.lock, std::adopt_lock);
        return value == peer.value; // NORACE: value
    }
};

box left, right;
bool results[2];

int main() {
    std::thread other([] { results[0] = left.equals(right); });
    results[1] = right.equals(left);
    other.join();
}
