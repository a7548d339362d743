// A thread arrives at the barrier but does not wait: it reads its neighbour's cell too early.
//
// CFLAGS: -std=c++20
#include <barrier>
#include <thread>

int left, right;
int seen_left, seen_right;
std::barrier meeting(2);

int main() {
    std::thread thread([] {
        right = 2; // RACE: right with line 19
        meeting.arrive_and_wait();
        seen_left = left; // NORACE: left
    });
    left = 1; // NORACE: left
    auto token = meeting.arrive();
    seen_right = right; // RACE: right with line 13
    meeting.wait(std::move(token));
    thread.join();
}
