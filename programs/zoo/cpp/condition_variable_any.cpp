// std::condition_variable_any waits on a shared lock: two readers wait for the writer's news.
//
// CFLAGS: -std=c++17
// NORACE
// EXPECT-STDOUT: sum 84
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

int news;
int heard[2];
std::shared_mutex lock;
std::condition_variable_any published;

static void listener(int *my_heard) {
    std::shared_lock<std::shared_mutex> guard(lock);
    published.wait(guard, [] { return news != 0; }); // NORACE: news
    *my_heard = news; // NORACE: news
}

int main() {
    std::thread first(listener, &heard[0]), second(listener, &heard[1]);
    {
        std::unique_lock<std::shared_mutex> guard(lock);
        news = 42; // NORACE: news
    }
    published.notify_all();
    first.join();
    second.join();
    std::printf("sum %d\n", heard[0] + heard[1]);
}
