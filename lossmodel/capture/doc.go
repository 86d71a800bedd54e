// Package capture reads and writes captures: CSV files with a row for each packet sent and for each
// copy that arrived.
//
//	seq,send_us,recv_us,copy
//	0,0.0,50012.4,0
//	1,1000.0,lost,0
//	2,2000.0,51990.1,0
//	2,2000.0,51991.3,1
//
// Columns are found by their names in the header, in any order. Other columns are ignored, so the
// packets.csv of an experiment is a capture too.
//
//   - seq: the sequence number. Without this column, each row is the next packet.
//   - send_us, recv_us: microseconds by the clocks of sender and receiver, which may differ.
//     recv_us may also be "lost", or empty for a packet that was in flight when the capture ended;
//     such rows are counted and skipped.
//   - delay_us in place of recv_us: the delay, or "lost".
//   - lost in place of either: 1 or 0, true or false, yes or no.
//   - copy: 0 or empty for the packet itself, 1 and up for duplicates.
//
// Times are parsed as decimals, not as floats, and are exact to the nanosecond.
package capture
