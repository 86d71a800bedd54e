"""The game of tanks.c in Python: the two exchange states.

    tanks.py LIBRARY receive PORT SCHEMA
    tanks.py LIBRARY send PORT SCHEMA N

LIBRARY is the path of libwirelab.so, libwirelab.dylib or libwirelab.dll.
"""
import ctypes
import select
import socket
import sys
import time

ROWS, FIELDS, PACKET_ROOM, ACK_ROOM = 40, 4, 4096, 256
State = ctypes.c_int32 * (ROWS * FIELDS)


def load(path):
    """Loads the library and declares the functions that are used here, as in wirelab_endpoint.h."""
    lib = ctypes.CDLL(path)
    handle, size, time_us, text, data, state = (ctypes.c_int32, ctypes.c_int32, ctypes.c_int64, ctypes.c_char_p,
                                                ctypes.c_char_p, ctypes.POINTER(ctypes.c_int32))
    for name, arguments, result in (
        ("version", (), ctypes.c_int32),
        ("sender", (text, text, text, data, size), handle),
        ("receiver", (text, text, data, size), handle),
        ("close", (handle,), ctypes.c_int32),
        ("rows", (handle,), ctypes.c_int32),
        ("fields", (handle,), ctypes.c_int32),
        ("tick_hz", (handle,), ctypes.c_int32),
        ("send", (handle, time_us, state, data, size), size),
        ("handle_ack", (handle, time_us, data, size), ctypes.c_int32),
        ("receive", (handle, time_us, data, size, state), ctypes.c_int32),
        ("make_ack", (handle, time_us, data, size), size),
        ("sequence", (handle,), ctypes.c_int64),
        ("acked", (handle,), ctypes.c_int64),
        ("error", (handle, data, size), size),
    ):
        function = getattr(lib, "wirelab_" + name)
        function.argtypes, function.restype = arguments, result
    return lib


def world(n):
    """Returns the state of packet n, as in tanks.c."""
    state = State()
    for i in range(ROWS):
        moved = n * (20 + i) if i % 4 == 0 else 0
        state[4 * i:4 * i + 4] = ((900 * i + moved) % 65536, 20000 + moved // 7 % 500, (9 * i + moved // 50) % 360,
                                  (n + i) // 10 % 2)
    return state


def now_us():
    return time.monotonic_ns() // 1000


def opened(lib, handle, error):
    """Returns a handle, or raises the error that the library wrote."""
    if handle < 0:
        raise RuntimeError(error.value.decode())
    if (lib.wirelab_rows(handle), lib.wirelab_fields(handle)) != (ROWS, FIELDS):  # a State would be too small
        raise RuntimeError("the schema is of another game")
    return handle


def receive(lib, sock, schema):
    error, ack, state = ctypes.create_string_buffer(500), ctypes.create_string_buffer(ACK_ROOM), State()
    receiver = opened(lib, lib.wirelab_receiver(schema, b"", error, len(error)), error)
    states = wrong = 0
    print("listening", flush=True)
    sock.settimeout(60)  # the first packet may take longer
    try:
        while True:
            packet, sender = sock.recvfrom(PACKET_ROOM)
            sock.settimeout(2)
            if lib.wirelab_receive(receiver, now_us(), packet, len(packet), state) == 1:  # others are old or malformed
                states += 1
                wrong += bytes(state) != bytes(world(lib.wirelab_sequence(receiver)))
            size = lib.wirelab_make_ack(receiver, now_us(), ack, len(ack))
            if size > 0:
                sock.sendto(ack.raw[:size], sender)
    except socket.timeout:
        pass
    lib.wirelab_close(receiver)
    print(f"{states} states, {wrong} wrong")


def send(lib, sock, address, schema, count):
    error, packet = ctypes.create_string_buffer(500), ctypes.create_string_buffer(PACKET_ROOM)
    sender = opened(lib, lib.wirelab_sender(schema, b"delta-adaptive", b"", error, len(error)), error)
    start, tick_us, total = now_us(), 1_000_000 // lib.wirelab_tick_hz(sender), 0
    for n in range(count):
        # Until the next tick, handle acks as they arrive; those that have arrived also if the tick is late.
        arrived = True
        while (left := start + n * tick_us - now_us()) > 0 or arrived:
            arrived = select.select([sock], [], [], max(left, 0) / 1e6)[0]
            if arrived:
                ack = sock.recv(ACK_ROOM)
                lib.wirelab_handle_ack(sender, now_us(), ack, len(ack))  # a malformed ack is ignored
        size = lib.wirelab_send(sender, now_us(), world(n), packet, len(packet))
        if size < 0:
            lib.wirelab_error(sender, error, len(error))
            raise RuntimeError(error.value.decode())
        total += size
        if size > 0:  # otherwise none is due
            sock.sendto(packet.raw[:size], address)  # a lost packet is not sent again
    print(f"{count} states, {total / count:.1f} bytes each, newest acknowledged {lib.wirelab_acked(sender)}")
    lib.wirelab_close(sender)


def main():
    library, role, port, path = sys.argv[1:5]
    lib, address = load(library), ("127.0.0.1", int(port))
    assert lib.wirelab_version() >= 1, "the library is older than this program"
    with open(path, "rb") as f, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        if role == "receive":
            sock.bind(address)
            receive(lib, sock, f.read())
        else:
            send(lib, sock, address, f.read(), int(sys.argv[5]))


main()
