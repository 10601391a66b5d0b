// The compiled kernels as one extension module.

#include "native.hpp"

#include <algorithm>

BEST_CPU u64 largest(const u64* codes, size_t n) {
    u64 most = 0;
    for (size_t i = 0; i < n; ++i) most = std::max(most, codes[i]);
    return most;
}

NB_MODULE(native, module) {
    define_encoding(module);
    define_counting(module);
    define_sampling(module);
    define_csv(module);
    define_cut_search(module);
    define_text_lookup(module);
}
