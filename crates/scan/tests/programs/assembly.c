// Assembly, also such that jumps, and outside of functions.
asm(".globl marker\nmarker:");

int set(int *p)
{
    int old;
    asm volatile("xchgl %0, %1" : "=r"(old), "+m"(*p) : "0"(1) : "memory");
    return old;
}

int jumps(int n)
{
    asm goto("testl %0, %0; jne %l1" : : "r"(n) : : other);
    return 0;
other:
    return 1;
}
