// Package container puts packets of package endpoint into containers: datagrams that also carry redundancy, which
// repairs lost packets, or parts of messages. A game could ship it between an endpoint and a socket.
//
//	sender := container.NewSender()
//	sender.SetRedundancy(policy)
//	sealed := sender.Seal(now, interval, packet.Datagram, nil) // then transmit sealed.Datagram
//	at, ok := sender.NextParity()                              // at that time transmit sender.SealParity(now).Datagram
//
//	opened, err := receiver.Open(datagram)                     // then receive each of opened.Packets
//
// # Redundancy
//
// With "repeat n=2" each container has the two packets before its own as well. With "rs data=4 parity=2" four
// packets are a group, and two further datagrams with parity follow it: any four of the six give the four packets
// (a Reed-Solomon code over bytes). "xor data=4" is the code with one parity, the exclusive or. Codes cost fewer
// bytes than repeats, but repair a packet only when its group is complete.
//
// # Format
//
// A container begins with, in little-endian order,
//
//	number  16 bits  low bits of the container's number
//	parts    8 bits  which of the parts below follow, in this order
//	zero     8 bits  the place of the codec in a packet of package endpoint; no codec has the ID 0
//
// The parts are
//
//	group     16 bits group, 8 bits index of the packet in it
//	parity    16 bits group, 8 bits index from the number of packets on, 8 bits packets, 8 bits parities (0: XOR),
//	          then the parity of the shards of the packets up to the end of the datagram
//	repeats    8 bits count; of each: 8 bits distance in containers, 16 bits length, a packet
//	messages   8 bits count, then the parts of messages; see Inbox
//	packet    up to the end of the datagram
//
// The shard of a packet is its container's number (16 bits), its length (16 bits) and the packet, padded with zeros
// to the longest of the group. A shard that is rebuilt therefore names its container.
//
// Containers have no checksum of their own: UDP has one.
package container
