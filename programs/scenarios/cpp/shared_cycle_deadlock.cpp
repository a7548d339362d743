// Each thread holds one table shared and wants the other for itself. Shared holds of two threads get along; the
// exclusive wishes do not.
//
// NORACE
#include <mutex>
#include <shared_mutex>
#include <thread>

std::shared_mutex a, b;
int a_value, b_value;

static void a_to_b() {
    std::shared_lock<std::shared_mutex> from(a);
    std::unique_lock<std::shared_mutex> to(b); // DEADLOCK: waits for b holding a, with line 29
    b_value = a_value;
}

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread other(a_to_b);
    dawdle();
    {
        std::shared_lock<std::shared_mutex> from(b);
        std::unique_lock<std::shared_mutex> to(a); // DEADLOCK: waits for a holding b, with line 14
        a_value = b_value;
    }
    other.join();
}
