/* A module that violates the contract. Its parameter evil selects how. */
#include "wirelab.h"
#define wl_encode good_encode
#define wl_decode good_decode
#define wl_alloc good_alloc
#define wl_create good_create
#define wl_describe good_describe
#define wl_error good_error
#undef WL_EXPORT
#include "../templates/c/encoder.c"
#undef wl_encode
#undef wl_decode
#undef wl_alloc
#undef wl_create
#undef wl_describe
#undef wl_error
#define EXPORT(name) __attribute__((export_name(#name)))

/* fd_write of WASI. */
__attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write"))) int write_fd(int fd, const void *list, int n, uint32_t *written);

static int evil;
enum { NOTHING, TRAP, LOOP, LONG_PACKET, HUGE_PACKET, LONG_MEMO, LONG_BODY, ALLOC_ZERO, ALLOC_WILD, ALLOC_ODD, GROW, REFUSE, RECURSE,
       OUT_OF_RANGE, WILD_STORE, DECODE_TRAP, DECODE_LOOP, WILD_ERROR, IDLE, PANIC };

EXPORT(wl_alloc) void *evil_alloc(uint32_t size) {
    if (size > 20000 && evil == ALLOC_ZERO) return 0;
    if (size > 20000 && evil == ALLOC_WILD) return (void *)0xfffff000;
    if (size > 20000 && evil == ALLOC_ODD) return (char *)good_alloc(size + 8) + 4;
    return good_alloc(size);
}

EXPORT(wl_describe) const wl_codec *evil_describe(int32_t i) {
    static const wl_param params[] = {{.name = "evil", .help = "what it does", .kind = WL_INT, .initial = 0, .min = 0, .max = 100}};
    static const wl_codec codec = {.name = "evil", .summary = "breaks the contract", .source = "the lab's own tests", .refs = 1,
        .suits = WL_SUITS_TABLES | WL_SUITS_CUBES, .memo_room = 64, .param_count = 1, .params = params};
    return i == 0 ? &codec : 0;
}

EXPORT(wl_create) wl_end *evil_create(int32_t i, const wl_schema *schema, const double *params) {
    evil = (int)params[0];
    return good_create(i, schema, params);
}

EXPORT(wl_error) const char *evil_error(void) { return evil == WILD_ERROR ? (char *)0xfffffff0 : evil == REFUSE ? "I will \033[2Jnot" : 0; }

static int recurse(volatile int *p) { volatile int here[64]; here[0] = *p + 1; return recurse(here) + here[0]; }

EXPORT(wl_encode) int32_t evil_encode(wl_end *end, wl_call *call) {
    if (evil == IDLE) return call->packet_size = 0;
    int32_t code = good_encode(end, call);
    volatile int zero = 0;
    switch (evil) {
    case PANIC: { /* as Go's runtime writes it */
        static const char text[] = "panic: no \033[2Jmore ideas\n\tfor frames\n\ngoroutine 1 [running]:\n";
        struct { const char *text; uint32_t size; } list = {text, sizeof text - 1};
        write_fd(2, &list, 1, &(uint32_t){0});
    }
    case TRAP: __builtin_trap();
    case LOOP: for (;;) zero++;
    case LONG_PACKET: call->packet_size = call->packet_room + 1; break;
    case HUGE_PACKET: call->packet_size = 0xffffffff; break;
    case LONG_MEMO: call->frame.memo_size = 65; break;
    case GROW: while (__builtin_wasm_memory_grow(0, 16) != (unsigned long)-1) zero++; break;
    case WILD_ERROR: case REFUSE: return WL_REFUSED;
    case RECURSE: return recurse(&zero);
    case WILD_STORE: *(volatile int *)0xfffffff0 = 1; break;
    }
    return code;
}

EXPORT(wl_decode) int32_t evil_decode(wl_end *end, wl_call *call) {
    if (evil == IDLE) return 0;
    int32_t code = good_decode(end, call);
    volatile int zero = 0;
    switch (evil) {
    case DECODE_TRAP: __builtin_trap();
    case DECODE_LOOP: for (;;) zero++;
    case LONG_BODY: call->frame.body_size = 1 << 20; break;
    case OUT_OF_RANGE: call->frame.table[7] = 1 << 30; break;
    }
    return code;
}
