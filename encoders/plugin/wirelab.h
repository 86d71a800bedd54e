/* wirelab.h: an encoder of your own for Wirelab, as a WebAssembly module. ABI version 1.
 *
 * Build a module for wasm32 that exports the functions declared below, and start the lab
 * with --plugin FILE.wasm. Nothing has to be imported. `tui plugins check FILE.wasm` says
 * whether it keeps the contract; `tui plugins new --lang c NAME` writes an example.
 *
 * An encoder turns a frame into a packet, given one or two references: frames that both
 * ends hold. A frame is a table of int32 (rows x fields, row by row) and a body of bytes;
 * either may be empty. Each end is a module of its own: sender and receiver share nothing.
 *
 * Memory. The lab asks wl_alloc for all buffers and owns them; nobody frees them before the
 * module goes. Pointers that a call is given are good for that call alone. Every struct here
 * is of 32-bit members in wasm's order, little endian, and aligned to 8 bytes.
 *
 * Return codes. 0 is success, anything below is one of WL_*. A decoder may be given any
 * bytes: it answers WL_TRUNCATED or WL_CORRUPT, or fills in some frame. A trap ends the
 * plugin; so does a call that takes too long (--plugin-timeout).
 *
 * The two ends must come to the same bits. Integers do; so does WebAssembly's float
 * arithmetic, but for the payload of NaNs. There is no clock, no randomness and no file.
 * Whatever an encoder learns belongs into the memo of a frame, a pure function of the frame
 * and of its references' memos: packets are lost, and whichever frame the next packet is
 * based on, both ends have its memo. Keep nothing else between two calls that changes what
 * is written.
 */
#ifndef WIRELAB_H
#define WIRELAB_H

#include <stdint.h>

#define WL_ABI 1
#if defined(__wasm__)
#define WL_EXPORT(name) __attribute__((export_name(#name)))
#else
#define WL_EXPORT(name)
#endif

enum { WL_OK = 0, WL_TRUNCATED = -1, WL_CORRUPT = -2, WL_REFUSED = -3 };

/* What an encoder takes. */
enum { WL_SUITS_TABLES = 1, WL_SUITS_BODIES = 2, WL_SUITS_CUBES = 4 /* snapshots of cubes only */ };

/* Peculiarities of an encoder. */
enum { WL_QUANTISES = 1, /* it rewrites the frame to what the decoder will give */
       WL_STANDALONE = 2 /* the decoder needs no reference */ };

/* Kinds of parameters and of fields. */
enum { WL_INT = 0, WL_NUMBER = 1, WL_BOOL = 2 };
enum { WL_QUANTITY = 0, WL_ENUM = 1, WL_FLAG = 2, WL_BITS = 3, WL_ANGLE = 4, WL_FLOAT32 = 5 };

typedef struct {
    const char *name, *help, *unit; /* a name has a-z, 0-9 and _; unit may be 0 */
    int32_t kind;
    double initial, min, max;
} wl_param;

typedef struct {
    const char *name;    /* as it is typed: a-z, 0-9 and - */
    const char *summary; /* one line: the idea */
    const char *source;  /* author, year, what it follows */
    int32_t refs;        /* 1 or 2: the most references it takes */
    int32_t suits;       /* WL_SUITS_*, or-ed */
    int32_t flags;
    int32_t memo_room;   /* the most bytes of a memo; 0: it has none. At most 1 MB */
    int32_t param_count;
    const wl_param *params;
} wl_codec;

typedef struct {
    const char *name;
    int32_t kind;
    int32_t min, max; /* inclusive; not of WL_BITS and WL_FLOAT32 */
    float scale;      /* units per step */
} wl_field;

typedef struct {
    const char *name; /* "cubes" */
    int32_t rows, field_count, tick_hz;
    const wl_field *fields;
} wl_schema;

typedef struct {
    uint32_t tick; /* the source's counter: time, in steps of 1 / tick_hz */
    int32_t *table;
    uint8_t *body;
    uint32_t body_size, body_room;
    uint8_t *memo;
    uint32_t memo_size; /* 0: a reference has none, as the initial state */
    uint32_t memo_room;
} wl_frame;

typedef struct {
    wl_frame frame;   /* encode: what is to be sent. decode: table, body and body_size to be written.
                         Both: memo and memo_size to be written */
    wl_frame refs[2]; /* to be read only, the newest first */
    uint32_t ref_count;
    uint8_t *packet;
    uint32_t packet_size; /* decode: of what came. encode: to be written */
    uint32_t packet_room;
    uint32_t *bits; /* encode, if not 0: what each field was charged, in 1/1024 bit, and at [field_count]
                       all else; zero before the call. May be left alone */
} wl_call;

typedef struct wl_end wl_end; /* yours: one end of a session */

WL_EXPORT(wl_abi) int32_t wl_abi(void);                       /* return WL_ABI */
WL_EXPORT(wl_alloc) void *wl_alloc(uint32_t size);            /* aligned to 8; 0 if there is no room */
WL_EXPORT(wl_describe) const wl_codec *wl_describe(int32_t i); /* the i-th encoder; 0 after the last */
/* One end for this schema: params in the order of the description. 0: it cannot, and wl_error says why. */
WL_EXPORT(wl_create) wl_end *wl_create(int32_t i, const wl_schema *schema, const double *params);
WL_EXPORT(wl_encode) int32_t wl_encode(wl_end *end, wl_call *call);
WL_EXPORT(wl_decode) int32_t wl_decode(wl_end *end, wl_call *call);
WL_EXPORT(wl_error) const char *wl_error(void); /* about the last call that failed; 0 or "" if there is nothing to say */

#endif
