// std::condition_variable with a predicate: a value goes to the worker and the answer comes back.
//
// NORACE
// EXPECT-STDOUT: answer 42
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

int question, answer;
bool asked, answered;
std::mutex lock;
std::condition_variable changed;

static void work() {
    std::unique_lock<std::mutex> guard(lock);
    changed.wait(guard, [] { return asked; });
    answer = question * 2; // NORACE: question, answer
    answered = true; // NORACE: answered
    changed.notify_one();
}

int main() {
    std::thread worker(work);
    {
        std::lock_guard<std::mutex> guard(lock);
        question = 21; // NORACE: question
        asked = true;
    }
    changed.notify_one();
    {
        std::unique_lock<std::mutex> guard(lock);
        while (!answered)
            changed.wait_for(guard, std::chrono::hours(1));
    }
    std::printf("answer %d\n", answer); // NORACE: answer
    worker.join();
}
