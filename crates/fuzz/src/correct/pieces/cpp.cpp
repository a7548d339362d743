//: mutex | exclusion | std::mutex | the owner
static std::mutex lock$;
static void enter$(void) { lock$.lock(); }
static void leave$(void) { lock$.unlock(); }

//: try_lock | exclusion | std::mutex::try_lock in a loop | false
static std::mutex lock$;
static void enter$(void) {
    while (!lock$.try_lock())
        std::this_thread::yield();
}
static void leave$(void) { lock$.unlock(); }

//: timed_mutex | exclusion | std::timed_mutex::try_lock_for in a loop | the owner, or time
static std::timed_mutex lock$;
static void enter$(void) {
    while (!lock$.try_lock_for(1ms) && !lock$.try_lock_until(std::chrono::system_clock::now() + 1ms))
        ;
}
static void leave$(void) { lock$.unlock(); }

//: recursive_mutex | exclusion | std::recursive_mutex | the owner
static std::recursive_mutex lock$;
static void enter$(void) {
    lock$.lock();
    must(lock$.try_lock());
    lock$.unlock();
}
static void leave$(void) { lock$.unlock(); }

//: shared_mutex | exclusion | std::shared_mutex | the owners
static std::shared_mutex lock$;
static void enter$(void) {
    {
        std::shared_lock reading(lock$);
        must(read$() >= 0);
    }
    lock$.lock();
}
static void leave$(void) { lock$.unlock(); }

//: shared_timed_mutex | exclusion | std::shared_timed_mutex in a loop | the owners, or time
static std::shared_timed_mutex lock$;
static void enter$(void) {
    while (!lock$.try_lock_shared_for(1ms))
        ;
    must(read$() >= 0);
    lock$.unlock_shared();
    while (!lock$.try_lock_for(1ms))
        ;
}
static void leave$(void) { lock$.unlock(); }

//: std_lock | exclusion | std::lock of two | the owners
static std::mutex first$, second$;
static std::atomic<int> turn$;
static void enter$(void) {
    if (turn$++ % 2)
        std::lock(first$, second$);
    else
        std::lock(second$, first$);
}
static void leave$(void) {
    first$.unlock();
    second$.unlock();
}

//: binary_semaphore | exclusion | std::binary_semaphore | any thread
static std::binary_semaphore lock$(1);
// Not `acquire`: that of GCC 12 may sleep although the semaphore was released.
static void enter$(void) {
    while (!lock$.try_acquire())
        std::this_thread::yield();
}
static void leave$(void) { lock$.release(); }

//: atomic_flag | exclusion | std::atomic_flag::wait | the owner
static std::atomic_flag lock$ = ATOMIC_FLAG_INIT;
static void enter$(void) {
    while (lock$.test_and_set(std::memory_order_acquire))
        lock$.wait(true, std::memory_order_relaxed);
}
static void leave$(void) {
    lock$.clear(std::memory_order_release);
    lock$.notify_one();
}

//: condition_variable | handover | std::condition_variable::wait | any thread
static std::mutex lock$;
static std::condition_variable changed$;
static bool is$;
static void give$(void) {
    std::lock_guard guard(lock$);
    is$ = true;
    changed$.notify_one();
}
static void take$(void) {
    std::unique_lock guard(lock$);
    changed$.wait(guard, [] { return is$; });
}

//: condition_wait_for | handover | std::condition_variable::wait_for in a loop | any thread, or time
static std::mutex lock$;
static std::condition_variable changed$;
static bool is$;
static void give$(void) {
    {
        std::lock_guard guard(lock$);
        is$ = true;
    }
    changed$.notify_all();
}
static void take$(void) {
    std::unique_lock guard(lock$);
    while (!changed$.wait_for(guard, 1ms, [] { return is$; }))
        ;
}

//: condition_variable_any | handover | std::condition_variable_any::wait | any thread
static std::shared_mutex lock$;
static std::condition_variable_any changed$;
static bool is$;
static void give$(void) {
    std::lock_guard guard(lock$);
    is$ = true;
    changed$.notify_all();
}
static void take$(void) {
    std::shared_lock guard(lock$);
    changed$.wait(guard, [] { return is$; });
}

//: semaphore | handover | std::counting_semaphore | any thread
static std::counting_semaphore<4> sem$(0);
static void give$(void) { sem$.release(2); }
static void take$(void) {
    sem$.acquire();
    while (!sem$.try_acquire_for(1ms))
        ;
}

//: latch | handover | std::latch::wait | any thread
static std::latch latch$(1);
static void give$(void) { latch$.count_down(); }
static void take$(void) { latch$.wait(); }

//: barrier | handover, meets | std::barrier | all threads
static std::barrier barrier$(2);
static void give$(void) { barrier$.arrive_and_wait(); }
static void take$(void) { barrier$.arrive_and_wait(); }

//: barrier_completion | handover | std::barrier, completion | all threads
static bool is$;
struct completion$ {
    void operator()() noexcept { is$ = true; }
};
static std::barrier<completion$> barrier$(2);
static void give$(void) { (void)barrier$.arrive(); }
static void take$(void) {
    barrier$.arrive_and_wait();
    must(is$);
}

//: promise | handover | std::future::get | any thread
static std::promise<int> promise$;
static std::future<int> future$ = promise$.get_future();
static void give$(void) { promise$.set_value(3); }
static void take$(void) { must(future$.get() == 3); }

//: promise_exception | handover | std::shared_future::wait_for in a loop | any thread, or time
static std::promise<int> promise$;
static std::shared_future<int> future$ = promise$.get_future().share();
static void give$(void) { promise$.set_exception(std::make_exception_ptr(std::runtime_error("x"))); }
static void take$(void) {
    while (future$.wait_for(1ms) != std::future_status::ready)
        ;
    bool is = false;
    try {
        future$.get();
    } catch (const std::runtime_error &) {
        is = true;
    }
    must(is);
}

//: atomic_wait | handover | std::atomic::wait | any thread
static std::atomic<int> is$;
static void give$(void) {
    is$.store(1, std::memory_order_release);
    is$.notify_one();
}
static void take$(void) { is$.wait(0, std::memory_order_acquire); }

//: atomic_wait_long | handover | std::atomic::wait of eight bytes | any thread
static std::atomic<long long> is$;
static void give$(void) {
    is$ = 1;
    is$.notify_all();
}
static void take$(void) { is$.wait(0); }

//: atomic_ref | handover | std::atomic_ref in a loop | any thread
static int is$;
static void give$(void) { std::atomic_ref(is$).store(1, std::memory_order_release); }
static void take$(void) {
    while (!std::atomic_ref(is$).load(std::memory_order_acquire))
        std::this_thread::yield();
}

//: fences | handover | relaxed load, then fence | any thread
static std::atomic<bool> is$;
static void give$(void) {
    std::atomic_thread_fence(std::memory_order_release);
    is$.store(true, std::memory_order_relaxed);
}
static void take$(void) {
    while (!is$.load(std::memory_order_relaxed))
        std::this_thread::yield();
    std::atomic_thread_fence(std::memory_order_acquire);
}

//: queue | handover | a queue under std::mutex | any thread
static std::mutex lock$;
static std::condition_variable changed$;
static std::deque<std::unique_ptr<int>> queue$;
static void give$(void) {
    auto item = std::make_unique<int>(6);
    std::scoped_lock guard(lock$);
    queue$.push_back(std::move(item));
    changed$.notify_one();
}
static void take$(void) {
    std::unique_lock guard(lock$);
    changed$.wait(guard, [] { return !queue$.empty(); });
    auto item = std::move(queue$.front());
    queue$.pop_front();
    guard.unlock();
    must(*item == 6);
}

//: thread | own | std::thread::join | the thread's end
static long run$(void) {
    std::thread thread([] { write$(); });
    thread.join();
    return read$();
}

//: jthread | own | std::jthread, stop_token | any thread
static long run$(void) {
    {
        std::jthread thread([](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::yield();
            write$();
        });
    }
    return read$();
}

//: stop_wait | own | std::condition_variable_any::wait with a stop_token | request_stop
static long run$(void) {
    std::mutex lock;
    std::condition_variable_any changed;
    std::jthread thread([&](std::stop_token token) {
        std::unique_lock guard(lock);
        bool is = changed.wait(guard, token, [] { return false; });
        must(!is);
        write$();
    });
    thread.request_stop();
    thread.join();
    return read$();
}

//: async | own | std::async | the thread's end
static long run$(void) {
    auto future = std::async(std::launch::async, [] { write$(); });
    future.get();
    return read$();
}

//: packaged_task | own | std::packaged_task, detached | any thread
static long run$(void) {
    std::packaged_task<void()> task([] { write$(); });
    auto future = task.get_future();
    std::thread(std::move(task)).detach();
    future.wait();
    return read$();
}

//: call_once | own | std::call_once | whoever initialises
static std::once_flag once$;
static long run$(void) {
    auto use = [] { std::call_once(once$, write$); };
    std::thread thread(use);
    use();
    long value = read$();
    thread.join();
    return value;
}

//: call_once_throws | own | std::call_once, whose first try throws | whoever initialises
static std::once_flag once$;
static int tries$;
static long run$(void) {
    auto use = [] {
        for (;;)
            try {
                std::call_once(once$, [] {
                    if (tries$++ == 0)
                        throw std::runtime_error("x");
                    write$();
                });
                return;
            } catch (const std::runtime_error &) {
            }
    };
    std::thread thread(use);
    use();
    long value = read$();
    thread.join();
    return value;
}

//: static_local | own | a static variable's initialisation | whoever initialises
static long make$(void) {
    write$();
    return read$();
}
static long use$(void) {
    static long value = make$();
    return value;
}
static long run$(void) {
    std::thread thread([] { must(use$() > 0); });
    long value = use$();
    thread.join();
    return value;
}

//: shared_pointer | own | std::shared_ptr's last owner | any thread
struct last$ {
    ~last$() { write$(); }
};
static long run$(void) {
    auto first = std::make_shared<last$>();
    std::thread thread([second = first]() mutable { second.reset(); });
    first.reset();
    thread.join();
    return read$();
}

//: thread_local | own | a thread_local's destructor | the thread's end
struct local$ {
    int used = 0;
    ~local$() { write$(); }
};
// In a function: those of a whole file are made, and end, together.
static local$ &mine$() {
    static thread_local local$ it;
    return it;
}
static long run$(void) {
    std::thread thread([] { mine$().used = 1; });
    thread.join();
    return read$();
}

//: at_thread_exit | own | set_value_at_thread_exit | the thread's end
static long run$(void) {
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
        promise.set_value_at_thread_exit(1);
        write$();
    });
    must(future.get() == 1);
    long value = read$();
    thread.join();
    return value;
}

//: times_out | own | timed calls of all kinds | time
static long run$(void) {
    std::timed_mutex lock;
    std::mutex own;
    std::condition_variable changed;
    std::counting_semaphore<2> sem(0);
    std::promise<void> promise;
    auto future = promise.get_future();
    lock.lock();
    std::thread thread([&] { must(!lock.try_lock_for(1ms)); });
    thread.join();
    lock.unlock();
    std::unique_lock guard(own);
    must(changed.wait_for(guard, 1ms, [] { return false; }) == false);
    must(!sem.try_acquire_for(1ms));
    std::this_thread::sleep_for(1ms);
    return good$(future.wait_for(1ms) == std::future_status::timeout);
}
