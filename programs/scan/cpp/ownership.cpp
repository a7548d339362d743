// What runs once, what belongs to whom, and what happens when somebody throws.
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

std::once_flag flag, unused;
int made, unmade, counted, thrown, caught, torn;
std::mutex lock;
std::atomic<int> visits;

struct Table {
    Table() : size(7) {}                            // NORACE
    int size;
    int uses = 0;
};

static Table &table() {
    static Table instance;
    return instance;
}

static void once() {
    std::call_once(flag, [] {
        made = 42;                                  // NORACE
    });
    if (made)                                       // NORACE
        unmade++;                                   // RACE!
}

static void statics() {
    int size = table().size;                        // NORACE
    table().uses += size;                           // RACE!
}

struct Shared {
    std::mutex lock;
    int inside = 0;
    int beside = 0;
};

static void use(std::shared_ptr<Shared> shared) {
    std::lock_guard<std::mutex> guard(shared->lock);
    shared->inside++;                               // NORACE
}

static void misuse(std::shared_ptr<Shared> shared) {
    shared->beside++;                               // RACE!
    visits++;                                       // NORACE
}

static void fail() {
    std::lock_guard<std::mutex> guard(lock);
    thrown++;                                       // NORACE
    throw std::runtime_error("failed");
}

static void recover() {
    try {
        fail();
    } catch (const std::exception &) {
        caught++;                                   // RACE!
    }
    std::lock_guard<std::mutex> guard(lock);
    thrown++;                                       // NORACE
}

struct Resource {
    ~Resource() {
        torn++;                                     // RACE!
    }
};

static void leave() {
    Resource resource;
}

static void hand_over() {
    auto box = std::make_unique<int>(1);
    int *alias = box.get();
    std::thread other([box = std::move(box)] {
        ++*box;                                     // RACE!
    });
    ++*alias;                                       // RACE!
    other.join();
}

int main() {
    auto shared = std::make_shared<Shared>();
    auto work = [shared] {
        once();
        statics();
        use(shared);
        misuse(shared);
        recover();
        leave();
    };
    std::thread first(work), second(work);
    first.join();
    second.join();
    shared->inside++;                               // NORACE
    shared->beside++;                               // NORACE
    hand_over();
}
