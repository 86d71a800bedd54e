package labtest

import (
	"fmt"
	"strings"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/view"
)

// NewCalls returns a lab that sends calls of 26 fields, more than a small screen has rows.
func NewCalls() *Lab {
	return &Lab{Snap: Run(`
data.source = "rpc"
encoder.name = "rpc-adaptive"
link.loss = "1%"
link.latency = "40ms"
`, runLength)}
}

// CallFields returns the names of the fields of NewCalls.
func CallFields() (names []string) {
	for _, f := range NewCalls().Snap.Schema.Fields {
		names = append(names, f.Name)
	}
	return names
}

// NewWorld returns a lab with a live world, whose display starves now and then.
func NewWorld() *Lab { return &Lab{Snap: World(70 * time.Second)} }

const world = `
data.source = "world"
receiver.playout_delay = "170ms"
sender.every = 6
link.latency = "50ms"
link.jitter = "16ms"
down.loss = "5%"
`

// World returns the snapshot of the session of NewWorld at a virtual time.
func World(now time.Duration) *engine.Snapshot { return Run(world, now) }

// Budgets returns the snapshot of a live world with a budget of 64 kbit/s, and a shadow for each policy of rows but the
// first, half of them with 24 kbit/s.
func Budgets() *engine.Snapshot {
	text := strings.Builder{}
	text.WriteString(world + "sender.budget = \"64kbit\"\n")
	for i, policy := range view.Policies.Names()[1:] {
		fmt.Fprintf(&text, "[[shadow]]\nname = \"relative-orientation\"\npriority = %q\n", policy)
		if i%2 == 0 {
			text.WriteString("budget = \"24kbit\"\n")
		}
	}
	return Run(text.String(), 20*time.Second)
}
