package labtest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
)

// Shadows returns the snapshot of the session of NewLab at a virtual time, with a shadow of each name, which parameters
// may follow: "rotor xy_large=12".
func Shadows(now time.Duration, names ...string) *engine.Snapshot {
	text := steady
	for _, name := range names {
		name, params, _ := strings.Cut(name, " ")
		text += fmt.Sprintf("[[shadow]]\nname = %q\nparams = { %s }\n", name, strings.ReplaceAll(params, " ", ", "))
	}
	return Run(text, now)
}

// FourShadows returns a snapshot with four shadows. The last joins at 40 s.
func FourShadows() *engine.Snapshot {
	const shadows = "[[shadow]]\nname = \"rotor\"\n[[shadow]]\nname = \"changed-bits\"\n[[shadow]]\nname = \"quantized\"\n"
	return Run(steady+"[[at]]\nt = \"40s\"\nshadow = \"changed-index\"\n"+shadows, runLength)
}

// RefusingSnapshot returns a snapshot in which the second shadow fails to encode every frame: it has an
// error and no packets, and its samples are empty except for their times.
func RefusingSnapshot() *engine.Snapshot {
	snap := FourShadows()
	l := &snap.Lanes[2]
	l.Err, l.Packets = errors.New("packet of 70000 bytes does not fit"), nil
	for i := range l.Samples {
		l.Samples[i] = meters.Sample{T: l.Samples[i].T}
	}
	return snap
}
