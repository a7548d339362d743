// Static objects die in reverse order: the service, built first, is joined last, so the journal is
// closed while the service's thread may still write to it.
#include <thread>

class Service {
public:
    explicit Service(void (*work)()) : thread(work) {}
    ~Service() { thread.join(); }

private:
    std::thread thread;
};

int final_lines;

struct Journal {
    int lines = 0;
    ~Journal() {
        final_lines = lines; // RACE: journal.lines with line 28
    }
};

static void write_line();
static Service service(write_line);
static Journal journal;

static void write_line() {
    journal.lines++; // RACE: journal.lines with line 19
}

int main() {
    return 0;
}
