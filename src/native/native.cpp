// The compiled kernels as one extension module.

#include "native.hpp"

#include <algorithm>

BEST_CPU u64 largest(const u64* codes, size_t n) {
    u64 found = 0;
    for (size_t i = 0; i < n; ++i) found = std::max(found, codes[i]);
    return found;
}

NB_MODULE(native, module) {
    define_encoding(module);
    define_counting(module);
    define_sampling(module);
    define_fields(module);
    define_search(module);
}
