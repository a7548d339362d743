// Addresses that become numbers and addresses again, and pairs of addresses in registers.
typedef unsigned long word;

struct pair {
    int *first, *second;
};

int *tagged(int *p) { return (int *)((word)p | 1); }

int *untagged(word w) { return (int *)(w & ~1ul); }

long distance(int *p, int *q) { return p - q; }

struct pair both(int *p, int *q) { return (struct pair){p, q}; }

int *second(int *p, int *q) { return both(p, q).second; }

int narrow(long n) { return (char)n; }
