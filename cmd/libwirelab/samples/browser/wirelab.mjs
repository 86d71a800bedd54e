// The WebAssembly module of the library in a browser, or in Node. Its functions are those of wirelab_endpoint.h, without the
// prefix: lib.send(handle, nowUs, ...), where addresses are numbers and 64-bit integers are BigInt.

// wasi returns the functions of WASI that Go's runtime calls. memory returns the module's memory. Everything that is not here
// succeeds without effect: the library has no files and no arguments.
function wasi(memory) {
  const view = () => new DataView(memory().buffer);
  const functions = {
    clock_time_get(_clock, _precision, at) {
      view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
      return 0;
    },
    random_get(at, size) {
      for (let i = 0; i < size; i += 65536) crypto.getRandomValues(new Uint8Array(memory().buffer, at + i, Math.min(65536, size - i)));
      return 0;
    },
    fd_write(_fd, list, n, written) { // Go's runtime writes the reason of a failure
      let size = 0, text = "";
      for (let i = 0; i < n; i++) {
        const at = view().getUint32(list + 8 * i, true), length = view().getUint32(list + 8 * i + 4, true);
        text += new TextDecoder().decode(new Uint8Array(memory().buffer, at, length));
        size += length;
      }
      view().setUint32(written, size, true);
      console.error(text);
      return 0;
    },
    fd_prestat_get: () => 8, // EBADF: there are no folders
    proc_exit(code) {
      throw new Error(`the library ended with code ${code}`);
    },
  };
  return new Proxy(functions, { get: (all, name) => all[name] ?? (() => 0) });
}

// load returns the library. wasm is the content of libwirelab.wasm, or a response that delivers it.
export async function load(wasm) {
  let instance;
  const imports = { wasi_snapshot_preview1: wasi(() => instance.exports.memory) };
  const source = wasm instanceof Response ? await WebAssembly.instantiateStreaming(wasm, imports) : await WebAssembly.instantiate(wasm, imports);
  instance = source.instance;
  instance.exports._initialize();
  return new Library(instance.exports);
}

class Library {
  constructor(exports) {
    this.exports = exports;
    for (const [name, f] of Object.entries(exports)) if (name.startsWith("wirelab_")) this[name.slice("wirelab_".length)] = f;
  }

  // bytes and ints return n values at an address. They are invalid when the memory grows, so get them again for each call.
  bytes(at, n) { return new Uint8Array(this.exports.memory.buffer, at, n); }
  ints(at, n) { return new Int32Array(this.exports.memory.buffer, at, n); }

  // text copies a text to the module, calls f with its address, and frees it.
  text(s, f) {
    const encoded = new TextEncoder().encode(s + "\0");
    const at = this.alloc(encoded.length);
    this.bytes(at, encoded.length).set(encoded);
    try {
      return f(at);
    } finally {
      this.free(at);
    }
  }

  // open calls f with a buffer for the text of an error and returns the handle, or throws the error.
  open(f) {
    const room = 500, at = this.alloc(room);
    try {
      const handle = f(at, room);
      if (handle > 0) return handle;
      const text = this.bytes(at, room);
      throw new Error(new TextDecoder().decode(text.slice(0, text.indexOf(0))));
    } finally {
      this.free(at);
    }
  }

  // openSender and openReceiver return handles of a sender and a receiver.
  openSender(schema, encoder = "", options = "") {
    return this.text(schema, (s) => this.text(encoder, (e) => this.text(options, (o) =>
      this.open((error, room) => this.sender(s, e, o, error, room)))));
  }
  openReceiver(schema, options = "") {
    return this.text(schema, (s) => this.text(options, (o) => this.open((error, room) => this.receiver(s, o, error, room))));
  }
}

// Link is a sender and a receiver in one page, for the samples: packets get lost between them, as the function lost decides.
export class Link {
  constructor(lib, schema, lost) {
    Object.assign(this, { lib, lost, states: 0, dropped: 0, wrong: 0, size: 0 });
    this.from = lib.openSender(schema);
    this.to = lib.openReceiver(schema);
    this.cells = lib.rows(this.from) * lib.fields(this.from);
    this.packet = lib.alloc(65507); // WIRELAB_PACKET_ROOM
    this.ack = lib.alloc(256); // WIRELAB_ACK_ROOM
    this.state = lib.alloc(4 * this.cells);
  }

  // exchange sends a state, and returns what the receiver has then: the same, or undefined if no packet arrived.
  exchange(values) {
    const { lib } = this, now = BigInt(Math.round(performance.now() * 1000));
    lib.ints(this.state, this.cells).set(values);
    const size = lib.send(this.from, now, this.state, this.packet, 65507);
    if (size < 0) throw new Error(`send returned ${size}`);
    if (size === 0) return undefined; // none is due
    this.size += size;
    if (this.lost()) {
      this.dropped++;
      return undefined;
    }
    lib.ints(this.state, this.cells).fill(-1);
    if (lib.receive(this.to, now, this.packet, size, this.state) !== 1) throw new Error("a packet was not decoded");
    const got = Array.from(lib.ints(this.state, this.cells));
    this.states++;
    if (got.some((v, i) => v !== values[i])) this.wrong++;
    if (!this.lost()) lib.handle_ack(this.from, now, this.ack, lib.make_ack(this.to, now, this.ack, 256));
    return got;
  }
}

// world returns the state of packet n, as in tanks.c.
export function world(n) {
  const state = [];
  for (let i = 0; i < 40; i++) {
    const moved = i % 4 === 0 ? n * (20 + i) : 0;
    state.push((900 * i + moved) % 65536, 20000 + Math.floor(moved / 7) % 500, (9 * i + Math.floor(moved / 50)) % 360, Math.floor((n + i) / 10) % 2);
  }
  return state;
}
