#include <pthread.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

typedef unsigned u32;
typedef u32 function(u32, u32, u32);

struct node {
    u32 value;
    struct node *next;
};
struct six {
    u32 x[6];
};

extern function *f[];
u32 g0, g1, a[16], b[8], far_apart[8], atomic;
volatile u32 v0;
unsigned char c0;
unsigned short h0;
unsigned long l0;
double d0;
struct node nodes[8];
struct six s0, s1;

static NOINLINE void poke(u32 *place, u32 value) {
    *place = *place + value;
}

#ifdef __cplusplus
struct Guard {
    ~Guard() { g1 = g1 + 1; }
};
#endif

