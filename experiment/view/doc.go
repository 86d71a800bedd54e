// Package view sends each client as much of a frame as its budget allows, and keeps server and client in agreement
// about what the client shows. It has no access to links or clocks; package endpoint adds headers and packets.
//
// # View frames
//
// A packet contains some rows of the newest frame. The server encodes a view frame: a reference that the client has
// too, with the chosen rows at their current values. Any encoder of tables can encode it, and it decodes exactly. The
// client then updates its display with the rows in which the view frame differs from the reference. If packets arrive
// out of order, the newest packet wins, row by row.
//
// # References
//
// The reference is the display of the client at its newest ack that the server received. Acks are numbered; each lists
// the packets that the display contains; and a packet names an ack instead of a baseline. A client stores what it needs
// to restore its display at the newest acks: MaxStates of them.
//
// Two simpler protocols fail. With the view frame of the newest acked packet as the reference, a row that was sent in
// packet n, but not in packet n+1, has its old value in view frame n+1. If the true value then returns to the old
// one, the row equals the reference and cannot be sent, while the client shows the value of packet n. And as R packets
// are in flight, there are R chains of references, each of which contains a row's newest value only every R packets.
//
// # Acks
//
// The server must know exactly which packets a display contains, so an ack lists all packets since the ack that the
// newest packet named. A server without acks for a long time sends packets without rows. Both ends ignore packets more
// than Window older than the newest.
package view

// Limits of both ends.
const (
	// Window is how many packets before the newest one a packet may be to be applied by the client.
	Window = 64
	// MaxStates is the number of acks whose display the client can restore.
	MaxStates = 32
	// maxSpan is the largest distance between the oldest and the newest packet that an ack lists.
	maxSpan = 1000
	// maxUnderWay is the largest number of packets with rows that are not acked and may still be applied.
	maxUnderWay = 255
)
