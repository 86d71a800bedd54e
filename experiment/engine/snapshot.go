package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// SamplePeriod is the length of a sample in virtual time.
const SamplePeriod = 100 * time.Millisecond

// Sample is what happened in one period of virtual time.
type Sample struct {
	T            time.Duration // end of the period
	Sent         int           // packets
	PayloadBits  int64
	WireBits     int64 // payload, our header, 28 bytes of IPv4 and UDP, fragments
	FeedbackBits int64 // on the uplink, counted as WireBits are
	Items        int64 // items in the frames sent
	Changed      int64 // rows that differed from their baseline
	Outcomes     [NumOutcomes]int
	LostBy       [figures.MaxCauses]int
	BaselineAge  int64 // in ticks, summed over the packets counted in Referenced
	Referenced   int   // packets encoded against an acked frame, not the initial state
	Across       int   // packets that build across a seam: see PacketRecord.Across
	Starved      int   // display ticks without a snapshot to interpolate to
	Displayed    int   // display ticks
	Late         int   // snapshots that arrived after their display time
	// How old what the display showed was: since its sender captured it, summed over Aged
	// display ticks, and at most.
	Age, Oldest time.Duration
	Aged        int
	// The largest display errors of any cube in the period, in millimetres and
	// degrees.
	PositionErrorMM, OrientationErrorDeg float64
	Budget                               encoders.Budget
}

// Failed returns how many packets failed in the period.
func (s *Sample) Failed() (n int) {
	for o, count := range s.Outcomes {
		if Outcome(o).Failed() {
			n += count
		}
	}
	return n
}

// PacketRecord records one packet, or one copy of it, from sending to outcome.
type PacketRecord struct {
	Seq      uint64
	Copy     int           // 0, or 1.. for a copy made by the link
	Sent     time.Duration // virtual time
	Due      time.Duration // when it arrives; 0 if lost
	Arrived  time.Duration // 0 while in flight or if lost
	Encoder  string
	Epoch    uint64
	Baseline int // distance in packets; 0 = the initial state
	Payload  int // bytes
	Wire     int // bytes
	Items    int
	Changed  int // rows that differed from the baseline
	Outcome  Outcome
	Cause    lossmodel.Cause // when lost
	EncodeNS int64           // nanoseconds in this process; not reproducible
	DecodeNS int64
	Seam     bool // first packet after a seam of the source
	// Across: it was sent after a seam of the source and builds on a frame from before
	// it, so it is as large as the first packet after the seam; that one counts too.
	Across bool
}

// ShownPackets is how many packets of each lane a snapshot of a running session
// holds: as many as a screen can show.
const ShownPackets = 600

// RunState is what the runner is doing.
type RunState uint8

// The states of a runner.
const (
	Running RunState = iota
	Paused
	Ended   // the source or the duration is over
	Broken  // an error stopped it; see Snapshot.Err
	Seeking // running to Snapshot.Seek without pacing
)

// Mark is an event in the timeline that charts point at.
type Mark struct {
	T     time.Duration
	Label string // short: "encoder rotor", "loss 5%", "seam"
	Kind  MarkKind
}

// MarkKind is the kind of a mark.
type MarkKind uint8

// The kinds of mark.
const (
	MarkChange MarkKind = iota
	MarkSeam
	MarkNote
	MarkUndo // a change was taken back
)

// Notice is a message for the user, such as "saved as ..." or "no such encoder".
type Notice struct {
	ID   int // increases with every notice
	Text string
	Bad  bool
}

// Lane is one lane of a snapshot. The first has the encoder that the user controls;
// further ones are shadows on the same frames and the same fates.
type Lane struct {
	Encoder  string
	Params   any
	Differs  string        // params that tell it from lanes with the same encoder; empty: there is none, or they are the defaults
	Began    time.Duration // when it joined
	Epoch    uint64
	Samples  []Sample       // oldest first; bounded
	Packets  []PacketRecord // oldest first; bounded
	Totals   figures.Totals
	Timing   figures.Timing
	Asked    []Asked // what the link was asked for and did, oldest first; of the first lane, unless its network is real
	Recent   Recent
	Blocks   []BlockState // of the delivered file, in order; nil if the data are no files
	Err      error        // newest error of the encoder, the decoder or the feedback
	Troubles []Incident   // newest incident of each reason, latest first; of the first lane only
}

// Recent holds the figures of the last two seconds.
type Recent struct {
	PayloadKbps, WireKbps, FeedbackKbps float64
	PayloadP95Kbps                      float64 // of 100 ms samples in the last minute
	BitsPerItem, BitsPerChanged         float64
	ChangedPerFrame                     float64
	BaselineAgeTicks, BaselineAgeMS     float64
	StarvedRatio                        float64 // share of display ticks
	AgeMS                               float64 // of what was shown, mean
	Aged                                int     // display ticks on which anything was shown
	PositionErrorMM                     float64 // largest of any cube
	EncodeUS, DecodeUS                  float64 // medians, in microseconds
	RunsAs                              string  // what those are of, if any of them is of an encoder from outside; see figures.Timing
	Budget                              encoders.Budget
}

// Snapshot is an immutable view of a running session, for the dashboard. Its slices
// may be shared with later snapshots and are never modified.
type Snapshot struct {
	Now     time.Duration // virtual
	State   RunState
	Speed   float64       // requested, as a multiple of real time; 0: as fast as possible
	Actual  float64       // reached over the last second of wall time
	Seek    time.Duration // target of the seek, if State is Seeking
	To      string        // where the receiver is, over a network; empty: here
	Saved   time.Duration // the run is in a report up to here
	Saving  bool          // a report is being written
	Err     error
	Config  *config.Config // with all changes applied so far
	Item    string         // "cube"
	Remarks []string       // what was guessed or left out of the data
	Schema  *frame.Schema
	Lanes   []Lane
	Marks   []Mark
	Effects []Effect        // what changes did, by time
	Trying  time.Duration   // the change whose effect is being measured; 0: none
	Before  *config.Encoder // the encoder before it was last changed; nil: it was not
	Log     []config.StampedChange
	Making  *Making  // the patch that the session waits for; nil: none
	Matrix  *Matrix  // of the newest patch; nil: no patch was made
	World   *Picture // the world at both ends; nil if the data are no cubes
	Both    *Display // what both ends have of other data; nil if they are cubes or files
	Opened  *Opened  // the packet that was asked for with Command.Open; nil: none
	Notice  Notice
}

// Making is the progress of a patch in the making. Virtual time stands still until it
// is done.
type Making struct {
	Encoder     string
	Done, Total int64 // bytes of the new file
}
