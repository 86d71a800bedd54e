package experiment

import (
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine/packetlog"
)

// Command is a request of a person to a running lab. Empty fields have no effect.
type Command struct {
	Change *config.Change // apply
	Undo   bool           // undo the last change
	Redo   bool           // make the change again that was undone last
	Pause  *bool          // pause or continue
	Toggle bool           // pause if running, continue if paused
	Step   int            // pause, and advance this many frames
	Speed  *float64       // times real time; 0 means as fast as it can
	Seek   *time.Duration // run there without pacing; backwards by replaying from the start
	Save   *string        // write a report in a new folder below this one; "" means the default
	Open   *packetlog.ID  // have this packet in every snapshot from now on
}
