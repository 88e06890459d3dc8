// Sanitizers abort on an allocation that cannot be had; the tests ask for some on purpose, to see
// them refused as they are in a plain build.
extern "C" {
const char* __asan_default_options();
const char* __tsan_default_options();

const char* __asan_default_options() { return "allocator_may_return_null=1"; }
const char* __tsan_default_options() { return "allocator_may_return_null=1"; }
}
