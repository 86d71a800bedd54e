package live

import (
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
)

// Command is a request of the user to a Runner. Fields with a zero value have no effect.
type Command struct {
	Change *config.Change // apply this change
	Undo   bool           // undo the last change
	Redo   bool           // repeat the change that was undone last
	Pause  *bool          // true to pause, false to continue
	Toggle bool           // pause if running, continue if paused
	Step   int            // pause, and advance this number of frames
	Speed  *float64       // multiple of real time; 0 means as fast as possible
	Seek   *time.Duration // run to this virtual time unpaced; to go back, a repeated run replaces this one
	At     *time.Duration // from now on, each snapshot contains the run at this earlier time: Snapshot.Past
	Return bool           // end the look back, or cancel the request of one or of a seek into the past
	Save   *string        // write a report into a new folder below this folder; "" means Options.Reports
	Open   *packetlog.ID  // from now on, snapshots inspect this packet: Snapshot.Opened, or in Snapshot.Past
	Trace  *uint64        // from now on, each snapshot describes every bit of this packet: Snapshot.Traced

	Client int // from now on, each snapshot of a crowd contains the packets of this client, counted from 1

	RowCosts *bool // whether snapshots contain the costs of rows from now on: Snapshot.RowCosts

	Carried *bool // whether snapshots contain which packets carry which rows: Snapshot.Carried

	Estimate *[]config.Encoder // estimate these encoders on the newest frames: Snapshot.Estimates; an empty list ends that

	Priorities *bool // whether snapshots contain the priorities of rows: Snapshot.Priorities
}
