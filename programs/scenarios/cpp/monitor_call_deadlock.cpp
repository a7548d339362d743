// Two monitors that call each other: every public method locks its own object. An account tells its auditor, and the
// auditor asks the account, each under its own lock.
//
// NORACE
#include <mutex>
#include <thread>

struct auditor {
    std::mutex lock;
    int entries = 0;

    void note() {
        std::lock_guard<std::mutex> guard(lock); // DEADLOCK: waits for lock holding lock, with line 23
        entries++; // NORACE: entries
    }
};

struct account {
    std::mutex lock;
    int money = 100;

    int balance() {
        std::lock_guard<std::mutex> guard(lock); // DEADLOCK: waits for lock holding lock, with line 13
        return money; // NORACE: money
    }

    void withdraw(auditor &auditor) {
        std::lock_guard<std::mutex> guard(lock);
        money -= 10; // NORACE: money
        auditor.note();
    }
};

account savings;
auditor revenue;
int seen;

// Meanwhile the other thread usually gets through, but nothing makes it.
static void dawdle() {
    for (int i = 0; i < 5; i++)
        std::thread([] {}).join();
}

int main() {
    std::thread other([] { savings.withdraw(revenue); });
    dawdle();
    {
        std::lock_guard<std::mutex> guard(revenue.lock);
        seen = savings.balance();
    }
    other.join();
}
