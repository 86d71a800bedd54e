//go:build libwirelab && !wasip1

package main

// The shared library exports the functions of library.go through cgo.

import "C"

import "unsafe"

//export wirelab_version
func wirelab_version() int32 {
	return apiVersion
}

//export wirelab_sender
func wirelab_sender(schema, encoder, options, text unsafe.Pointer, room int32) int32 {
	return open(text, room, func() (*end, error) { return openSender(getText(schema), getText(encoder), getText(options)) })
}

//export wirelab_receiver
func wirelab_receiver(schema, options, text unsafe.Pointer, room int32) int32 {
	return open(text, room, func() (*end, error) { return openReceiver(getText(schema), getText(options)) })
}

//export wirelab_close
func wirelab_close(handle int32) int32 {
	return closeEnd(handle)
}

//export wirelab_rows
func wirelab_rows(handle int32) int32 {
	return rowCount(handle)
}

//export wirelab_fields
func wirelab_fields(handle int32) int32 {
	return fieldCount(handle)
}

//export wirelab_tick_hz
func wirelab_tick_hz(handle int32) int32 {
	return tickHz(handle)
}

//export wirelab_field
func wirelab_field(handle int32, name unsafe.Pointer) int32 {
	return fieldIndex(handle, getText(name))
}

//export wirelab_step
func wirelab_step(handle, field int32) float64 {
	return fieldStep(handle, field)
}

//export wirelab_send
func wirelab_send(handle int32, nowUS int64, state, packet unsafe.Pointer, room int32) int32 {
	return send(handle, nowUS, state, packet, room)
}

//export wirelab_set_budget
func wirelab_set_budget(handle int32, bitsPerSecond, intervalUS int64) int32 {
	return setBudget(handle, bitsPerSecond, intervalUS)
}

//export wirelab_handle_ack
func wirelab_handle_ack(handle int32, nowUS int64, ack unsafe.Pointer, size int32) int32 {
	return handleAck(handle, nowUS, ack, size)
}

//export wirelab_receive
func wirelab_receive(handle int32, nowUS int64, packet unsafe.Pointer, size int32, state unsafe.Pointer) int32 {
	return receive(handle, nowUS, packet, size, state)
}

//export wirelab_make_ack
func wirelab_make_ack(handle int32, nowUS int64, ack unsafe.Pointer, room int32) int32 {
	return makeAck(handle, nowUS, ack, room)
}

//export wirelab_sequence
func wirelab_sequence(handle int32) int64 {
	return sequence(handle)
}

//export wirelab_acked
func wirelab_acked(handle int32) int64 {
	return acked(handle)
}

//export wirelab_error
func wirelab_error(handle int32, text unsafe.Pointer, room int32) int32 {
	return lastError(handle, text, room)
}
