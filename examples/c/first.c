#include "kernel.h"

KERNEL(first)
