package engine

import (
	"time"

	"wirelab/dataset/frame"
	"wirelab/experiment/config"
	"wirelab/experiment/engine/delivery"
	"wirelab/experiment/engine/inspector"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/figures"
)

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
	Differs  string        // params that distinguish it from lanes with the same encoder; empty: no such lane, or defaults
	Began    time.Duration // when it joined
	Epoch    uint64
	Samples  []meters.Sample    // oldest first; bounded
	Packets  []packetlog.Record // oldest first; bounded
	Totals   figures.Totals
	Timing   figures.Timing
	Link     []meters.LinkStretch // what the link was set to and did, oldest first; of the first lane, unless its network is real
	Recent   meters.Recent
	Blocks   []delivery.BlockState // of the delivered file, in order; nil if the data are no files
	Err      error                 // newest error of the encoder, the decoder or the feedback
	Troubles []inspector.Incident  // newest incident of each reason, latest first; of the first lane only
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
	Making  *delivery.Making  // the patch that the session waits for; nil: none
	Matrix  *delivery.Matrix  // of the newest patch; nil: no patch was made
	World   *playout.Picture  // the world at both ends; nil if the data are no cubes
	Both    *playout.Frames   // what both ends have of other data; nil if they are cubes or files
	Opened  *inspector.Opened // the packet of the newest Command.Open; nil: none
	Notice  Notice
}
