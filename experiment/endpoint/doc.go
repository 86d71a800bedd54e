// Package endpoint implements the two ends of a snapshot stream, as a game could ship them: a Sender
// that encodes frames against frames that the receiver has acknowledged, a Receiver that decodes
// them, and the formats of packets and acks. Datagrams are byte slices, and the caller transports
// them.
//
// Both endpoints are configured with the schema, the initial state and the table of codecs. The
// receiver gets everything else from datagrams. A minimal session is
//
//	sender := endpoint.NewSender(schema, initial, encoding, endpoint.Options{History: 64})
//	receiver := endpoint.NewReceiver(schema, initial, codecs, endpoint.Options{History: 64})
//
//	packet, err := sender.Send(now, frame, nil)   // then transmit packet.Datagram
//	reception := receiver.Receive(datagram)       // reception.Frame is the decoded frame
//	ack := receiver.AppendAck(nil)                // then transmit ack
//	err = sender.HandleAck(ack)
//
// # Epochs
//
// A change of the encoder or of its parameters begins an epoch; see Sender.Request. Until an ack
// names the epoch, each of its packets contains the parameters, so that the receiver can decode
// whichever of these packets arrives first.
//
// # Lost and malformed datagrams
//
// Datagrams may be lost, duplicated and reordered, and may have any content: Receiver.Receive returns
// an Outcome and Sender.HandleAck an error. Neither allocates memory in proportion to a number in a
// datagram. Damage must be detected below, as by the checksum of UDP.
//
// # Files
//
// Snapshots may be lost; files may not. FileSender and FileReceiver deliver a file in blocks, which are
// reliable messages of package container.
//
// # Time and concurrency
//
// Endpoints do not read a clock: methods that depend on time have a parameter for it. In steady state
// Sender and Receiver do not allocate memory. Neither is safe for use by several goroutines.
package endpoint
