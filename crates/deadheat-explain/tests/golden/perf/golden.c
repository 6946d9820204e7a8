#include <stdio.h>

static inline __attribute__((always_inline)) unsigned mixed(unsigned state)
{
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

__attribute__((noinline)) static unsigned walk(unsigned depth, unsigned state)
{
    for (unsigned i = 0; i < 1000000; i++)
        state = mixed(state);
    if (depth > 0)
        state ^= walk(depth - 1, state);
    return state + 1;
}

int main(void)
{
    printf("%u\n", walk(3, 7));
    return 0;
}
