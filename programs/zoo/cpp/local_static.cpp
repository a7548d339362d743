// A function-local static object is built by the first caller; the others wait for it.
//
// NORACE
// EXPECT-STDOUT: sum 42
#include <cstdio>
#include <thread>

struct Table {
    int size;
    Table() : size(21) {} // NORACE: table.size
};

static const Table &table() {
    static Table instance;
    return instance;
}

int main() {
    int sizes[2];
    std::thread first([&] { sizes[0] = table().size; }); // NORACE: table.size
    std::thread second([&] { sizes[1] = table().size; }); // NORACE: table.size
    first.join();
    second.join();
    std::printf("sum %d\n", sizes[0] + sizes[1]);
}
