package inspector

import (
	"time"

	"wirelab/encoders"
	"wirelab/experiment/engine/packetlog"
	"wirelab/lossmodel"
)

// Inside contains the details of a packet that packetlog.Record does not.
type Inside struct {
	Spent     compactBudget   // the bit budget of the payload
	Header    int             // bytes
	Fragments int             // IP fragments of the datagram
	Trail     lossmodel.Trail // the effect of each stage of the link
	AtSender
	AtReceiver
}

// AtSender is the sender's state when it encoded a packet.
type AtSender struct {
	Second        int           // distance of the second reference; 0 means none
	BaseSent      time.Duration // when the baseline was sent; 0 if unknown
	BaseAcked     time.Duration // when the sender received the ack of the baseline; 0 if unknown
	Age           int           // number of packets of this epoch sent before this one
	Previous      string        // name of the encoder before this one; empty if none
	WithoutMemo   bool          // the encoder uses memos, but the baseline has none of this epoch
	Usual         Usual
	AfterBaseline fateCount // of the packets after the baseline; set if the packet is large or lacks a reference
}

// AtReceiver describes how the receiver handled a packet.
type AtReceiver struct {
	Flipped   int           // flipped bits
	Base      baselineState // whether the receiver had the references
	Missing   uint64        // sequence number of the missing reference; 0 if none was missing
	History   int           // length of the receiver's history in frames
	DroppedAt time.Duration // when the missing reference left the history; set if Base is BaseDropped
	Run       int           // consecutive losses, up to and including this packet; 0 if it was not lost
	Newer     uint64        // newest packet decoded before this one arrived
	NewerSent time.Duration // when Newer was sent
	NewerAt   time.Duration // when Newer arrived
	Err       error         // error of the decoder
	AckLost   lossmodel.Cause
	AckDue    time.Duration // when its ack reaches the sender; 0 if no ack was sent or the ack was lost
}

// Usual contains means over at most usualPackets packets sent before a packet.
type Usual struct {
	N                          int     // packets
	Payload, Changed, Baseline float64 // bytes; changed rows; distance of the baseline in packets
}

// fateCount counts the packets between a packet and its baseline by their state when the packet was
// sent. If the sender had received an ack of one of them, it would have been the baseline.
type fateCount struct {
	Lost     int // lost by the link
	Failed   int // arrived and not decoded
	AckLost  int // decoded, but the ack was lost
	InFlight int // the packet or its ack was in flight
}

// baselineState describes whether the receiver had the references of a packet, and why not.
type baselineState uint8

// The states of a packet's references at the receiver.
const (
	BaseUnchecked baselineState = iota // not looked up: the packet was lost or rejected before
	baseInitial                        // the baseline is the initial state
	BaseHeld                           // the receiver had it
	BaseDropped                        // it arrived, but has left the history since
	BaseLost                           // the link lost it
	BaseFailed                         // it arrived but was not decoded
	BasePending                        // it is still in flight
	BaseUnknown                        // missing for an unknown reason
)

// compactBudget is the bit budget of one packet. It contains only the slots in use, because an
// encoders.Budget is too large to be stored for every packet.
type compactBudget struct {
	N     int // slots in use
	Slots [maxCompactSlots]encoders.Slot
	Units [maxCompactSlots]int64 // bits of each slot, in 1/65,536 bit
}

// maxCompactSlots is the maximum number of slots of a compactBudget. The last slot gets the bits of
// all further slots.
const maxCompactSlots = 32

// setBudget sets s to the slots of b that are in use.
func (s *compactBudget) setBudget(b *encoders.Budget) {
	s.N = 0
	for k, u := range b.Units {
		switch {
		case u == 0: // the slot is not in use
		case s.N < maxCompactSlots:
			s.Slots[s.N], s.Units[s.N] = encoders.Slot(k), u
			s.N++
		default: // no room: the last entry gets the bits of all further slots
			s.Slots[maxCompactSlots-1] = encoders.MaxSlots - 1
			s.Units[maxCompactSlots-1] += u
		}
	}
}

func (s *compactBudget) Budget() (b encoders.Budget) {
	for i := range s.N {
		b.Charge(s.Slots[i], s.Units[i])
	}
	return b
}

// Opened is a packet with all its stored details.
type Opened struct {
	ID     packetlog.ID
	Gone   bool // the packet is not stored, or no longer; then Record and Inside are empty
	Record packetlog.Record
	Inside Inside
}

// Incident is the newest packet with a problem of one Reason.
type Incident struct {
	Reason Reason
	N      int64         // packets with this reason so far
	T      time.Duration // when it was recorded
	Opened Opened        // the newest of these packets
}
