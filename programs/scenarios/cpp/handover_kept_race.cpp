// As in unique_handover.cpp, but the giver has kept a raw pointer and looks at the number once more. It usually
// looks before the taker comes, and then goes through the lock again.
//
#include <memory>
#include <mutex>
#include <thread>

std::mutex lock;
std::unique_ptr<int> slot;
int seen;

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread giver([] {
        auto thing = std::make_unique<int>(1);
        int *kept = thing.get();
        {
            std::lock_guard<std::mutex> guard(lock);
            slot = std::move(thing);
        }
        seen = *kept; // RACE: *kept with line 36
        std::lock_guard<std::mutex> guard(lock);
    });
    dawdle();
    int *mine = nullptr;
    {
        std::lock_guard<std::mutex> guard(lock);
        mine = slot.get(); // NORACE: slot
    }
    if (mine)
        *mine = 2; // RACE: *kept with line 26
    giver.join();
}
