// Four doubles side by side, for the dense kernels of this room. Compilers turn the type into whatever vector registers
// the processor has. Values are reached by reference only, so that no calling convention depends on the instruction
// set.
//
// The kernels keep every matrix in columns whose length is a multiple of kPack, padded so that the surplus rows and
// columns carry the identity and never touch the result.
#pragma once

namespace clatter {

inline constexpr int kPack = 4;

using Pack = double __attribute__((vector_size(32), aligned(8), may_alias));

inline Pack& pack(double* p) { return *reinterpret_cast<Pack*>(p); }
inline const Pack& pack(const double* p) { return *reinterpret_cast<const Pack*>(p); }

inline constexpr int padded(int n) { return (n + kPack - 1) / kPack * kPack; }

}  // namespace clatter
