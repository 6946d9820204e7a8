#include "kernel.h"

KERNEL(second)
