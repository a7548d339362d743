// Static objects: one starts a thread in its constructor, before main, and joins it in its destructor,
// after main. The journal was built earlier, so it is still there.
//
// NORACE
// EXPECT-STDOUT: main
// EXPECT-STDOUT: lines 2
#include <cstdio>
#include <mutex>
#include <thread>

class Journal {
public:
    void add() {
        std::lock_guard<std::mutex> guard(lock);
        lines++; // NORACE: journal.lines
    }
    ~Journal() { std::printf("lines %d\n", lines); } // NORACE: journal.lines

private:
    std::mutex lock;
    int lines = 0;
};

class Service {
public:
    explicit Service(Journal &journal) : thread([&journal] { journal.add(); }) {}
    ~Service() { thread.join(); }

private:
    std::thread thread;
};

static Journal journal;
static Service service(journal);

int main() {
    journal.add();
    std::printf("main\n");
}
