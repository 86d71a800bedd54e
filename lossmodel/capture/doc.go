// Package capture reads and writes what a network did to packets: one row for
// each packet sent and for each copy that arrived.
//
//	seq,send_us,recv_us,copy
//	0,0.0,50012.4,0
//	1,1000.0,lost,0
//	2,2000.0,51990.1,0
//	2,2000.0,51991.3,1
//
// The columns are found by their names in the first row, in any order; others
// are ignored, so the packets.csv of an experiment is a capture too:
//
//   - seq: the packet's number. Without it each row is the next packet.
//   - send_us, recv_us: microseconds by the clocks of the two ends, which need
//     not agree. recv_us may also read "lost", or be empty for a packet that was
//     still under way when the capture ended; such rows are counted and left out.
//   - delay_us instead of recv_us: how long it took, or "lost".
//   - lost instead of either: 1 or 0, true or false, yes or no.
//   - copy: 0 or empty for the packet itself, 1.. for duplicates.
//
// Times keep every digit down to the nanosecond: they are read as decimals, never
// through a float.
package capture
