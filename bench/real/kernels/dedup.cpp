// A pipeline with queues: text is cut into pieces where its content says so, pieces that were seen before are known
// by their sum, others are packed, and all are written in order. After the manner of dedup.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

struct Piece {
    long number;
    std::string text, packed;
    uint64_t sum = 0;
    bool is_known = false;
};
using Handed = std::unique_ptr<Piece>;

/// A queue of a few pieces that several put into and take from, until nobody puts any more.
class Queue {
public:
    explicit Queue(int givers) : givers(givers) {}

    void put(Handed piece) {
        std::unique_lock<std::mutex> held(lock);
        room.wait(held, [this] { return pieces.size() < 32; });
        pieces.push_back(std::move(piece));
        some.notify_one();
    }

    Handed take() {
        std::unique_lock<std::mutex> held(lock);
        some.wait(held, [this] { return !pieces.empty() || givers == 0; });
        if (pieces.empty()) {
            return nullptr;
        }
        Handed piece = std::move(pieces.front());
        pieces.pop_front();
        room.notify_one();
        return piece;
    }

    void end() {
        std::lock_guard<std::mutex> held(lock);
        if (--givers == 0) {
            some.notify_all();
        }
    }

private:
    std::mutex lock;
    std::condition_variable some, room;
    std::deque<Handed> pieces;
    int givers;
};

std::string text_of(long bytes) {
    std::string text;
    uint64_t state = 41;
    while (static_cast<long>(text.size()) < bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint64_t word = state >> 33;
        // A third of it repeats what was there.
        if (word % 3 == 0 && text.size() > 20000) {
            text += text.substr(word % (text.size() - 8000), 8000);
        } else {
            for (int k = 0; k < 2000; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                text += static_cast<char>('a' + (state >> 60));
            }
        }
    }
    text.resize(static_cast<size_t>(bytes));
    return text;
}

void cut(const std::string &text, Queue &to) {
    uint32_t rolling = 0;
    size_t first = 0;
    long number = 0;
    for (size_t at = 0; at < text.size(); at++) {
        rolling = (rolling << 1) + static_cast<unsigned char>(text[at]) * 2654435761u;
        bool is_end = (rolling & 0x3ff00000u) == 0 || at - first > 4000 || at + 1 == text.size();
        if (is_end) {
            auto piece = std::make_unique<Piece>();
            piece->number = number++;
            piece->text = text.substr(first, at + 1 - first);
            to.put(std::move(piece));
            first = at + 1;
        }
    }
    to.end();
}

struct Seen {
    std::mutex lock;
    std::unordered_map<uint64_t, long> pieces;
    long known = 0;
};

void look_up(Queue &from, Queue &to, Seen &seen) {
    while (Handed piece = from.take()) {
        uint64_t sum = 14695981039346656037u;
        for (char one : piece->text) {
            sum = (sum ^ static_cast<unsigned char>(one)) * 1099511628211u;
        }
        piece->sum = sum;
        {
            std::lock_guard<std::mutex> held(seen.lock);
            piece->is_known = !seen.pieces.emplace(sum, piece->number).second;
#ifndef RACE
            seen.known += piece->is_known;
#endif
        }
#ifdef RACE
        seen.known += piece->is_known; // RACE! after the lock was given back
#endif
        to.put(std::move(piece));
    }
    to.end();
}

void pack(Queue &from, Queue &to) {
    while (Handed piece = from.take()) {
        std::vector<int> last(4096, -1);
        const std::string &text = piece->text;
        for (size_t at = 0; !piece->is_known && at < text.size();) {
            size_t length = 0;
            if (at + 3 < text.size()) {
                uint32_t three = static_cast<uint32_t>(text[at]) | static_cast<uint32_t>(text[at + 1]) << 8 |
                                 static_cast<uint32_t>(text[at + 2]) << 16;
                int &place = last[three * 2654435761u >> 20];
                for (; place >= 0 && at + length < text.size(); length++) {
                    if (text[static_cast<size_t>(place) + length] != text[at + length]) {
                        break;
                    }
                }
                place = static_cast<int>(at);
            }
            piece->packed += length > 3 ? static_cast<char>(length) : text[at];
            at += length > 3 ? length : 1;
        }
        to.put(std::move(piece));
    }
    to.end();
}

size_t written(Queue &from) {
    std::map<long, Handed> early;
    long next = 0;
    size_t bytes = 0;
    while (Handed piece = from.take()) {
        early.emplace(piece->number, std::move(piece));
        for (auto it = early.find(next); it != early.end(); it = early.find(++next)) {
            bytes += it->second->is_known ? 8 : it->second->packed.size();
            early.erase(it);
        }
    }
    return early.empty() ? bytes : 0;
}

} // namespace

int main(int count, char **given) {
    int threads = count > 1 ? std::atoi(given[1]) : 4;
    long size = count > 2 ? std::atol(given[2]) : 40000000;
    if (threads < 2 || size < 1) {
        return 2;
    }
    std::string text = text_of(size);
    int each = threads / 2;
    Queue cut_ones(1), looked_up(each), packed(each);
    Seen seen;
    std::vector<std::thread> all;
    all.emplace_back([&] { cut(text, cut_ones); });
    for (int number = 0; number < each; number++) {
        all.emplace_back([&] { look_up(cut_ones, looked_up, seen); });
        all.emplace_back([&] { pack(looked_up, packed); });
    }
    size_t bytes = written(packed);
    for (auto &one : all) {
        one.join();
    }
    std::printf("dedup: %d\n", bytes > 0);
    return 0;
}
