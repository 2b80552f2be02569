// A few lines of test harness: CHECK counts, main prints "N passed, N failed".
#pragma once

#include <math.h>
#include <stdio.h>

static int check_passed, check_failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (condition) {                                                                           \
            ++check_passed;                                                                        \
        } else {                                                                                   \
            ++check_failed;                                                                        \
            printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                 \
        }                                                                                          \
    } while (0)

#define CHECK_CLOSE(seen, expected, tolerance)                                                     \
    do {                                                                                           \
        const double seen_ = (seen), expected_ = (expected);                                       \
        if (fabs(seen_ - expected_) <= (tolerance)) {                                              \
            ++check_passed;                                                                        \
        } else {                                                                                   \
            ++check_failed;                                                                        \
            printf(                                                                                \
                "%s:%d: %s is %.17g, not %.17g\n", __FILE__, __LINE__, #seen, seen_, expected_);   \
        }                                                                                          \
    } while (0)

static inline int check_report(void)
{
    printf("%d passed, %d failed\n", check_passed, check_failed);
    return check_failed != 0;
}
