// windgrove/pack.h - the parts of HDF5's filter pipeline that a recorder runs outside HDF5.
#pragma once

#include "windgrove/base.h"

/// Byte shuffle of 4-byte items: all first bytes, then all second, third and fourth bytes.
///
/// Source: the HDF5 shuffle filter, number 2. Cost: one pass.
/// @param in   [4 count] bytes
/// @param out  [4 count] bytes; must not overlap `in`
WG_API void wg_shuffle4(const void* in, size_t count, uint8_t* out);

/// Fletcher's checksum over 16-bit big-endian words, sums modulo 65535, an odd last byte counted as
/// the high byte of a word.
///
/// Source: the HDF5 Fletcher32 filter, number 3; Fletcher 1982. Cost: one pass.
WG_API uint32_t wg_fletcher32(const void* data, size_t bytes);
