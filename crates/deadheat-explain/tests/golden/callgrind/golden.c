#include "mixed.h"
static int walk(int depth, unsigned seed)
{
    return depth == 0 ? (int)mixed(seed) : walk(depth - 1, seed) + walk(depth - 1, seed + 1);
}
__attribute__((noinline)) int work(unsigned seed) { return walk(3, seed) + (int)mixed(seed); }
int main(int argc, char **argv) { (void)argv; return work((unsigned)argc) == 0; }
