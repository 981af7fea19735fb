/* The check of all programs in C: prints what does not hold, and ends with exit code 1. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NEED(condition)                                                                                       \
    do {                                                                                                      \
        if (!(condition)) {                                                                                   \
            fprintf(stderr, "line %d: %s (errno %d)\n", __LINE__, #condition, errno);                         \
            exit(1);                                                                                          \
        }                                                                                                     \
    } while (0)
