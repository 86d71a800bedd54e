//go:build libwirelab && wasip1

package main

// The WebAssembly module exports the functions of library.go, and functions to allocate memory for their arguments.

import "unsafe"

//go:wasmexport wirelab_version
func wirelab_version() int32 {
	return apiVersion
}

//go:wasmexport wirelab_sender
func wirelab_sender(schema, encoder, options, text unsafe.Pointer, room int32) int32 {
	return open(text, room, func() (*end, error) { return openSender(getText(schema), getText(encoder), getText(options)) })
}

//go:wasmexport wirelab_receiver
func wirelab_receiver(schema, options, text unsafe.Pointer, room int32) int32 {
	return open(text, room, func() (*end, error) { return openReceiver(getText(schema), getText(options)) })
}

//go:wasmexport wirelab_close
func wirelab_close(handle int32) int32 {
	return closeEnd(handle)
}

//go:wasmexport wirelab_rows
func wirelab_rows(handle int32) int32 {
	return rowCount(handle)
}

//go:wasmexport wirelab_fields
func wirelab_fields(handle int32) int32 {
	return fieldCount(handle)
}

//go:wasmexport wirelab_tick_hz
func wirelab_tick_hz(handle int32) int32 {
	return tickHz(handle)
}

//go:wasmexport wirelab_field
func wirelab_field(handle int32, name unsafe.Pointer) int32 {
	return fieldIndex(handle, getText(name))
}

//go:wasmexport wirelab_step
func wirelab_step(handle, field int32) float64 {
	return fieldStep(handle, field)
}

//go:wasmexport wirelab_send
func wirelab_send(handle int32, nowUS int64, state, packet unsafe.Pointer, room int32) int32 {
	return send(handle, nowUS, state, packet, room)
}

//go:wasmexport wirelab_set_budget
func wirelab_set_budget(handle int32, bitsPerSecond, intervalUS int64) int32 {
	return setBudget(handle, bitsPerSecond, intervalUS)
}

//go:wasmexport wirelab_handle_ack
func wirelab_handle_ack(handle int32, nowUS int64, ack unsafe.Pointer, size int32) int32 {
	return handleAck(handle, nowUS, ack, size)
}

//go:wasmexport wirelab_receive
func wirelab_receive(handle int32, nowUS int64, packet unsafe.Pointer, size int32, state unsafe.Pointer) int32 {
	return receive(handle, nowUS, packet, size, state)
}

//go:wasmexport wirelab_make_ack
func wirelab_make_ack(handle int32, nowUS int64, ack unsafe.Pointer, room int32) int32 {
	return makeAck(handle, nowUS, ack, room)
}

//go:wasmexport wirelab_sequence
func wirelab_sequence(handle int32) int64 {
	return sequence(handle)
}

//go:wasmexport wirelab_acked
func wirelab_acked(handle int32) int64 {
	return acked(handle)
}

//go:wasmexport wirelab_error
func wirelab_error(handle int32, text unsafe.Pointer, room int32) int32 {
	return lastError(handle, text, room)
}

// allocated holds the memory that wirelab_alloc has returned, so that it is not collected as garbage.
var allocated = map[unsafe.Pointer][]uint64{}

//go:wasmexport wirelab_alloc
func wirelab_alloc(size int32) unsafe.Pointer {
	if size < 0 {
		return nil
	}
	b := make([]uint64, size/8+1) // aligned to 8 bytes
	p := unsafe.Pointer(&b[0])
	allocated[p] = b
	return p
}

//go:wasmexport wirelab_free
func wirelab_free(p unsafe.Pointer) { delete(allocated, p) }
