// windgrove/base.h - status codes, threads and the instruction set in use.
//
// The core library never prints, exits, allocates inside a kernel or keeps a last error: every
// function that can fail returns a wg_status and writes nothing when it does.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define WG_API __attribute__((visibility("default")))
#else
#define WG_API
#endif

/// What a call came to. Negative values are errors; nothing was written unless the contract of the
/// function says otherwise.
typedef enum wg_status {
    WG_OK = 0,
    WG_NOT_CONVERGED = 1,    ///< an iteration stopped at its cap; the best result was written
    WG_ERR_VALUE = -1,       ///< an argument is out of its stated range
    WG_ERR_TOPOLOGY = -2,    ///< a parent does not come before its child
    WG_ERR_MEMORY = -3,      ///< an allocation failed (create functions only)
    WG_ERR_DIVERGED = -4,    ///< a state is not finite; the state is kept as it was found
    WG_ERR_UNSUPPORTED = -5, ///< the combination of options does not exist
} wg_status;

/// A short English text for a status: static storage, never NULL.
WG_API const char* wg_status_text(wg_status status);

/// How a call may use the machine. NULL means one thread.
/// Results never depend on it, to the last bit.
typedef struct wg_exec {
    int32_t threads; ///< 1 to WG_MAX_THREADS
} wg_exec;

#define WG_MAX_THREADS 64

/// Most instruction sets that a build holds.
#define WG_MOST_ISAS 3

/// Name of the active instruction set: "scalar", "avx2" or "avx512". Chosen once, at the first call:
/// the last that the processor and the system support; the environment variable WINDGROVE_ISA forces
/// one. All give the same bits.
WG_API const char* wg_isa_name(void);

/// The instruction sets that this build, processor and system have.
/// @param names Their names are put here, the plainest first: static storage.
/// @return How many; one at least.
WG_API int32_t wg_isa_names(const char* names[WG_MOST_ISAS]);

/// Forces an instruction set by name, for tests and benchmarks. Not while kernels run.
/// @return WG_OK, or WG_ERR_VALUE where this build or processor has no such set.
WG_API wg_status wg_isa_force(const char* name);

/// Compiler and build type of the library, for reports: static storage.
WG_API const char* wg_compiler(void);
WG_API const char* wg_build_type(void);
