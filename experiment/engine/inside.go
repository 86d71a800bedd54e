package engine

import (
	"time"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

// Inside is what a lab that looks closely knows of a packet beyond its record:
// what its bits went to, what each stage of the link did to it, what the sender
// knew when it made it, and what the receiver held when it came. Only a session
// with SessionOptions.Inspect notes it.
type Inside struct {
	Spent     CompactBudget
	Header    int // bytes
	Fragments int
	Trail     lossmodel.Trail

	// What the sender knew.
	Second        int           // distance of the second reference; 0: none
	BaseSent      time.Duration // when the baseline was sent
	BaseAcked     time.Duration // when the sender heard that the receiver has it
	AckDamaged    bool          // it heard so from damaged bytes
	Age           int           // packets that this encoding made before
	Previous      string        // the encoder before this one; "": there was none
	WithoutMemo   bool          // the encoder learns, but has learnt nothing yet of its baseline
	Usual         Usual
	AfterBaseline FateCounts // of the packets after the baseline; counted if the packet is large, or lacks its baseline

	// What happened at the far end.
	Flipped   int // bits
	Base      BaselineState
	Missing   uint64        // the reference that was not held, unless Base says BaseHeld
	History   int           // frames that the receiver's history reaches back
	DroppedAt time.Duration // when the missing reference left it
	Run       int           // lost packets in a row, this one the last
	Newer     uint64        // the newest packet that had been decoded before
	NewerSent time.Duration // when that was sent
	NewerAt   time.Duration // when it came
	Late      time.Duration // after its time on display
	Err       error         // what the decoder said
	AckLost   lossmodel.Cause
	AckDue    time.Duration // when the ack that it set off reaches the sender; 0: it set off none, or it was lost
}

// Usual is the mean over the packets before one, at most usualPackets.
type Usual struct {
	N                          int
	Payload, Changed, Baseline float64
}

// Since is what became, until a packet was sent, of those after its baseline: any
// of them might have been a newer one.
type FateCounts struct {
	Lost, Failed, AckLost, InFlight int
}

// Holding is whether the receiver held what a packet was to be decoded with.
type BaselineState uint8

// The ways to hold a baseline, or not to.
const (
	BaseUnchecked BaselineState = iota // nobody looked: the packet did not get so far
	BaseInitial                        // none is needed: the packet builds on the initial state
	BaseHeld                           //
	BaseDropped                        // it was held, and left the history
	BaseLost                           // it never came: the link had lost it
	BaseFailed                         // it came and could not be decoded
	BasePending                        // it is still under way
	BaseUnknown                        // nothing is known of it
)

// Spending is the budget of one packet in little room.
type CompactBudget struct {
	N     int
	Slots [maxCompactSlots]encoders.Slot
	Units [maxCompactSlots]int64 // of 1/65,536 bit
}

// maxSpent is how many slots are kept apart; the last one takes what is beyond.
const maxCompactSlots = 16

// note takes a budget over.
func (s *CompactBudget) set(b *encoders.Budget) {
	s.N = 0
	for k, u := range b.Units {
		switch {
		case u == 0:
		case s.N < maxCompactSlots:
			s.Slots[s.N], s.Units[s.N] = encoders.Slot(k), u
			s.N++
		default:
			s.Slots[maxCompactSlots-1] = encoders.MaxSlots - 1
			s.Units[maxCompactSlots-1] += u
		}
	}
}

// Budget returns it as budgets are.
func (s *CompactBudget) Budget() (b encoders.Budget) {
	for i := range s.N {
		b.Charge(s.Slots[i], s.Units[i])
	}
	return b
}

// PacketID names one packet of the encoder under the keys, or one copy of it.
type PacketID struct {
	Seq  uint64
	Copy int
}

// Opened is a packet with its inside.
type Opened struct {
	ID     PacketID
	Gone   bool // it has left the memory, or never was in it
	Record PacketRecord
	Inside Inside
}

// Incident is the newest trouble of one kind.
type Incident struct {
	Reason Reason
	N      int64         // how often there was any of that kind
	T      time.Duration // when
	Opened Opened
}
