// C++: guards, threads with lambdas, members beside their lock, atomics.
#include <atomic>
#include <mutex>
#include <thread>

class Account {
public:
    void deposit(long amount) {
        std::lock_guard<std::mutex> guard(lock);
        balance += amount;          // NORACE
        operations++;               // RACE!
    }
    long total() {
        std::unique_lock<std::mutex> guard(lock);
        return balance;             // NORACE
    }
    long count() {
        return operations;          // RACE!
    }

private:
    std::mutex lock;
    long balance = 0;
    long operations = 0;
};

Account account;
std::atomic<int> visits;
int plain;

int main() {
    std::thread one([] {
        account.deposit(1);
        visits++;                   // NORACE
        plain++;                    // RACE!
    });
    std::thread two([] {
        account.deposit(account.count());
        visits++;                   // NORACE
        plain++;                    // RACE!
    });
    one.join();
    two.join();
    return static_cast<int>(account.total()) + plain; // NORACE
}
