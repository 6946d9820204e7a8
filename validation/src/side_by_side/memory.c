// Work that uses memory in a certain way: memory KIND BYTES AMOUNT. Prints a checksum.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 1;

static uint64_t bits(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void *memory(uint64_t bytes) {
    void *place = malloc(bytes);
    if (!place) abort();
    return place;
}

// Reads of words at random places, each independent of the last one.
static uint64_t reads(uint64_t bytes, uint64_t amount) {
    uint64_t words = bytes / 8, sum = 0, *at = memory(bytes);
    for (uint64_t i = 0; i < words; i++) at[i] = i;
    for (uint64_t i = 0; i < amount; i++) sum += at[bits() % words];
    return sum;
}

// Reads of which each says where the next one is, in one cycle through all cache lines.
static uint64_t chase(uint64_t bytes, uint64_t amount) {
    uint64_t lines = bytes / 64, *at = memory(bytes);
    for (uint64_t i = 0; i < lines; i++) at[8 * i] = i;
    for (uint64_t i = lines - 1; i > 0; i--) {
        uint64_t j = bits() % i, kept = at[8 * i];
        at[8 * i] = at[8 * j];
        at[8 * j] = kept;
    }
    uint64_t here = 0;
    for (uint64_t i = 0; i < amount; i++) here = at[8 * here];
    return here;
}

// Sums of words in order; the amount is in words.
static uint64_t stream(uint64_t bytes, uint64_t amount) {
    uint64_t words = bytes / 8, sum = 0, *at = memory(bytes);
    for (uint64_t i = 0; i < words; i++) at[i] = i;
    while (amount > 0) {
        uint64_t part = amount < words ? amount : words;
        for (uint64_t i = 0; i < part; i++) sum += at[i];
        amount -= part;
        __asm__ volatile("" : "+r"(sum) : : "memory");
    }
    return sum;
}

// Multiplications of one product of three square matrices of BYTES in all; the rows of the result are
// computed again from the first once all are done.
static uint64_t product(uint64_t bytes, uint64_t amount, int is_blocked) {
    uint64_t n = 1;
    while (3 * (n + 1) * (n + 1) * sizeof(double) <= bytes) n++;
    double *a = memory(n * n * 8), *b = memory(n * n * 8), *c = memory(n * n * 8);
    for (uint64_t i = 0; i < n * n; i++) a[i] = i % 7, b[i] = i % 5, c[i] = 0;
    uint64_t block = 32;
    for (uint64_t done = 0; done < amount;) {
        if (is_blocked) {
            uint64_t row = done / (n * n) / block * block % n, rows = row + block < n ? block : n - row;
            for (uint64_t k0 = 0; k0 < n; k0 += block)
                for (uint64_t j0 = 0; j0 < n && done < amount; j0 += block)
                    for (uint64_t i = row; i < row + rows; i++)
                        for (uint64_t k = k0; k < k0 + block && k < n; k++) {
                            uint64_t j = j0;
                            for (; j < j0 + block && j < n; j++) c[i * n + j] += a[i * n + k] * b[k * n + j];
                            done += j - j0;
                        }
        } else {
            uint64_t i = done / n / n % n, j = done / n % n;
            double sum = 0;
            for (uint64_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] += sum;
            done += n;
        }
    }
    return (uint64_t)c[n];
}

// Looks keys up in a hash table of BYTES that is half full.
static uint64_t join(uint64_t bytes, uint64_t amount) {
    uint64_t places = 1;
    while (2 * places * 16 <= bytes) places *= 2;
    uint64_t *at = calloc(places, 16), found = 0, keys = places / 2;
    if (!at) abort();
    for (uint64_t key = 1; key <= keys; key++) {
        uint64_t place = key * 0x9E3779B97F4A7C15 >> 20 & (places - 1);
        while (at[2 * place]) place = (place + 1) & (places - 1);
        at[2 * place] = key, at[2 * place + 1] = ~key;
    }
    for (uint64_t i = 0; i < amount; i++) {
        uint64_t key = bits() % keys + 1, place = key * 0x9E3779B97F4A7C15 >> 20 & (places - 1);
        while (at[2 * place] != key) place = (place + 1) & (places - 1);
        found += at[2 * place + 1];
    }
    return found;
}

static int order(const void *one, const void *other) {
    uint64_t x = *(const uint64_t *)one, y = *(const uint64_t *)other;
    return (x > y) - (x < y);
}

// Sorts arrays of BYTES of random words, AMOUNT words in all.
static uint64_t sort(uint64_t bytes, uint64_t amount) {
    uint64_t words = bytes / 8, *at = memory(bytes), sum = 0;
    while (amount > 0) {
        uint64_t part = amount < words ? amount : words;
        for (uint64_t i = 0; i < part; i++) at[i] = bits();
        qsort(at, part, 8, order);
        sum += at[part / 2];
        amount -= part;
    }
    return sum;
}

// Branches on random bits, or always the same way.
static uint64_t branches(uint64_t amount, uint64_t mask) {
    uint64_t count = 0, other = 1;
    for (uint64_t i = 0; i < amount; i++) {
        if (bits() & mask) {
            count += other;
            __asm__ volatile("" : "+r"(count));
        } else {
            other = other * 3 + 1;
            __asm__ volatile("" : "+r"(other));
        }
    }
    return count + other;
}

int main(int count, char **words) {
    if (count != 4) return 2;
    const char *kind = words[1];
    uint64_t bytes = strtoull(words[2], 0, 10), amount = strtoull(words[3], 0, 10), sum;
    if (!strcmp(kind, "reads")) sum = reads(bytes, amount);
    else if (!strcmp(kind, "chase")) sum = chase(bytes, amount);
    else if (!strcmp(kind, "stream")) sum = stream(bytes, amount);
    else if (!strcmp(kind, "naive")) sum = product(bytes, amount, 0);
    else if (!strcmp(kind, "blocked")) sum = product(bytes, amount, 1);
    else if (!strcmp(kind, "join")) sum = join(bytes, amount);
    else if (!strcmp(kind, "sort")) sum = sort(bytes, amount);
    else if (!strcmp(kind, "branchy")) sum = branches(amount, 1);
    else if (!strcmp(kind, "even")) sum = branches(amount, 0);
    else return 2;
    printf("%llu\n", (unsigned long long)sum);
    return 0;
}
