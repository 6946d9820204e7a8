// Chains of steps, each of which needs the one before, as a command: the
// first word says which, and PERCENT how many per cent more of them.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **words) {
  const char *percent = getenv("PERCENT");
  long steps = 40000 * (100 + (percent ? atol(percent) : 0));
  int shifting = count > 1 && strcmp(words[1], "shifting") == 0;
  volatile uint64_t start = 1;
  uint64_t bits = start;
  for (long i = 0; i < steps; i++) {
    if (shifting) {
      bits ^= bits << 13;
      bits ^= bits >> 7;
      bits ^= bits << 17;
    } else {
      bits = (bits ^ (bits >> 31)) * 0x6a09e667f3bcc909ull;
    }
  }
  start = bits;
  return 0;
}
