/* wirelab.h: the contract between Wirelab and an encoder in a WebAssembly module. ABI version 1.
 *
 * Build a module for wasm32 that exports the functions declared below, and start the lab
 * with --plugin FILE.wasm. The module need not import anything. `tui plugins check FILE.wasm`
 * checks it; `tui plugins new --lang c NAME` writes an example.
 *
 * An encoder turns a frame into a packet, given one or two references: earlier frames that
 * sender and receiver both hold. A frame is a table of int32 (rows x fields, row by row) and
 * a body of bytes; either may be empty. Every encoder and decoder is a module instance of its
 * own: sender and receiver share nothing.
 *
 * Memory. The lab allocates all buffers by wl_alloc and owns them; they are freed only with
 * the module. Pointers passed to a call are valid during that call. All structs have 32-bit
 * members (double: 64 bits) in the layout of wasm32, little-endian, aligned to 8 bytes.
 *
 * Return codes. 0 is success, others are WL_*. A decoder must accept any bytes: it returns
 * WL_TRUNCATED or WL_CORRUPT, or writes some frame. After a trap, or a call that takes longer
 * than --plugin-timeout, the lab closes the instance and creates a new one.
 *
 * Determinism. Encoder and decoder must compute the same bits. Integers and the float
 * arithmetic of WebAssembly are deterministic, except for the payload of NaNs. There is no
 * clock, no randomness and no file. Store everything that an encoder learns in the memo of a
 * frame, as a pure function of the frame and its references with their memos: packets are
 * lost, but sender and receiver always have the memos of the references of a packet. Keep no
 * other state between calls that changes the result.
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

/* Kinds of frames that an encoder accepts. */
enum { WL_SUITS_TABLES = 1, WL_SUITS_BODIES = 2, WL_SUITS_CUBES = 4 /* snapshots of cubes only */ };

/* Flags of an encoder. */
enum { WL_QUANTISES = 1, /* lossy: wl_encode replaces the frame by the one that the decoder will return */
       WL_STANDALONE = 2, /* the decoder does not read the references */
       WL_HINTS = 4 /* wl_create reads wl_schema.hints; a lab that does not know them refuses the encoder */ };

/* Kinds of parameters, and kinds of fields. */
enum { WL_INT = 0, WL_NUMBER = 1, WL_BOOL = 2 };
enum { WL_QUANTITY = 0, WL_ENUM = 1, WL_FLAG = 2, WL_BITS = 3, WL_ANGLE = 4, WL_FLOAT32 = 5 };

typedef struct {
    const char *name, *help, *unit; /* name: a-z, 0-9 and _; unit may be 0 */
    int32_t kind;
    double initial, min, max;
} wl_param;

typedef struct {
    const char *name;    /* a-z, 0-9 and -; used as --encoder NAME */
    const char *summary; /* one line: the idea */
    const char *source;  /* author, year, publication */
    int32_t refs;        /* maximum number of references: 1 or 2 */
    int32_t suits;       /* bitwise or of WL_SUITS_* */
    int32_t flags;       /* bitwise or of WL_QUANTISES and WL_STANDALONE */
    int32_t memo_room;   /* maximum size of a memo in bytes, at most 1 MiB; 0 if there are no memos */
    int32_t param_count;
    const wl_param *params;
} wl_codec;

typedef struct {
    const char *name;
    int32_t kind;
    int32_t min, max; /* inclusive; not used for WL_BITS and WL_FLOAT32 */
    float scale;      /* units per step */
} wl_field;

/* Roles of fields in the game. */
enum { WL_NO_ROLE = 0, WL_POSITION = 1, WL_VELOCITY = 2, WL_TYPE = 3 /* rows of one type behave alike */,
       WL_PRESENT = 4 /* 1 if the row is in use */, WL_CLOCK = 5 /* an absolute time in units of WL_NOW */, WL_NOW = 6 };

/* What a schema states about a field besides its range. 0 means unknown. Hints may be wrong: an encoder must be correct
 * with any. */
typedef struct {
    int32_t role;
    int32_t group; /* number of a position, from 1; a velocity has the group of its position, a clock that of a position
                      that was valid at this time */
    int32_t axis;  /* of a coordinate: 0 and 1 horizontal, 2 vertical */
    int32_t rides; /* of a position: the group of the position to which it is attached */
    float rate;    /* of a velocity: the distance that one unit covers in one unit of WL_NOW, or per tick without it */
    float drag, stop_speed; /* of a velocity: fraction lost to friction per unit of WL_NOW; below stop_speed as at it */
    float turn;    /* of WL_FLOAT32: period of values that wrap */
    float step;    /* of WL_FLOAT32: most values are multiples of it */
} wl_hint;

typedef struct {
    const char *name; /* such as "cubes" */
    int32_t rows, field_count, tick_hz;
    const wl_field *fields;
    const wl_hint *hints; /* [i] for field i; 0 without WL_HINTS */
} wl_schema;

typedef struct {
    uint32_t tick; /* time of the frame, in 1 / tick_hz seconds */
    int32_t *table;
    uint8_t *body;
    uint32_t body_size, body_room; /* room: size of the buffer */
    uint8_t *memo;
    uint32_t memo_size; /* 0 if a reference has no memo, such as the initial state */
    uint32_t memo_room;
} wl_frame;

typedef struct {
    wl_frame frame;   /* wl_encode reads the frame to send. wl_decode writes table, body and body_size.
                         Both write memo and memo_size */
    wl_frame refs[2]; /* read only, the newest first */
    uint32_t ref_count;
    uint8_t *packet;
    uint32_t packet_size; /* wl_decode reads it, wl_encode writes it */
    uint32_t packet_room;
    uint32_t *bits; /* wl_encode, if not 0: optional report of what the packet's bits were spent on, in 1/1024
                       bit: [i] for field i, [field_count] for everything else. Zero before the call */
} wl_call;

typedef struct wl_end wl_end; /* defined by you: the state of one encoder or decoder */

WL_EXPORT(wl_abi) int32_t wl_abi(void);                       /* returns WL_ABI */
WL_EXPORT(wl_alloc) void *wl_alloc(uint32_t size);            /* returns memory aligned to 8; 0 if there is none */
WL_EXPORT(wl_describe) const wl_codec *wl_describe(int32_t i); /* returns the i-th encoder; 0 after the last */
/* Creates the state for encoder i, frames of this schema and params in the order of the description. Returns 0 if
 * the encoder does not accept them; wl_error then returns the reason. */
WL_EXPORT(wl_create) wl_end *wl_create(int32_t i, const wl_schema *schema, const double *params);
WL_EXPORT(wl_encode) int32_t wl_encode(wl_end *end, wl_call *call);
WL_EXPORT(wl_decode) int32_t wl_decode(wl_end *end, wl_call *call);
WL_EXPORT(wl_error) const char *wl_error(void); /* returns the reason of the last failure; 0 or "" if there is none */

#endif
