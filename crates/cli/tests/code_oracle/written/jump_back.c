/* setjmp returns twice, the second time by a way that is nowhere in the function's code. */

#include <setjmp.h>

static jmp_buf back;
static volatile int count;
static int data[8];

__attribute__((noinline)) static void deep(int n) {
    data[n & 7]++;
    if (n > 3)
        longjmp(back, n);
    if (n > 0)
        deep(n - 1);
}

int main(void) {
    int came = setjmp(back);
    data[0] = came;
    count++;
    if (count < 6) {
        deep(count);
        data[1]++;
        deep(count + 2);
    }
    return 0;
}
