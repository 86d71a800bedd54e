package labtest

import (
	"context"
	"slices"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// steady is the configuration of NewLab. The demo begins again every 48 s.
const steady = `
down.loss = "5%"
down.latency = "50ms"
down.jitter = "10ms"
up.latency = "65ms"
`

// changed is the configuration of NewChanged.
const changed = `
encoder.name = "relative-position"
down.loss = "1%"
down.latency = "50ms"
[[at]]
t = "46s"
encoder = "relative-orientation"
[[at]]
t = "70.4s"
down.loss = "5%"
`

// runLength is the virtual time of the snapshots of labs.
const runLength = 90 * time.Second

// open opens a session of a configuration that stores all that the dashboard shows, as a live one does. Each call of an
// encoder or decoder takes 40 µs.
func open(text string) *engine.Session {
	cfg, err := config.Parse("labtest", []byte(text))
	if err != nil {
		panic(err)
	}
	cfg.Data.Loop, cfg.Data.Again = true, cfg.HasFileData()
	var wall time.Duration
	clock := func() time.Duration {
		wall += 40 * time.Microsecond
		return wall
	}
	opt := engine.Options{Clock: clock, KeepPackets: 1024, KeepHistory: true, Trials: true, Endless: true, Inspect: true, KeepSent: true}
	s, err := engine.NewSession(context.Background(), cfg, opt)
	if err != nil {
		panic(err)
	}
	return s
}

// runTo advances a session to a virtual time and returns its snapshot.
func runTo(s *engine.Session, now time.Duration) *engine.Snapshot {
	if err := s.RunUntil(now); err != nil {
		panic(err)
	}
	snap := s.View(engine.ShownPackets)
	snap.Pace = engine.Pace{Speed: 1, Actual: 1}
	return snap
}

// runs are the sessions of Run by configuration.
var (
	runs     = map[string]*engine.Session{}
	runsLock sync.Mutex
)

// Run returns the snapshot of a session of a configuration at a virtual time. The caller may modify its lanes and
// its schema.
func Run(text string, now time.Duration) *engine.Snapshot {
	snap, _ := run(text, now)
	return snap
}

// run returns the snapshot of Run and its session, which the next call may advance.
func run(text string, now time.Duration) (*engine.Snapshot, *engine.Session) {
	runsLock.Lock()
	defer runsLock.Unlock()
	s := runs[text]
	if s == nil || s.Now() > now {
		s = open(text)
		runs[text] = s
	}
	snap := *runTo(s, now)
	schema := *snap.Schema
	schema.Fields, schema.Parts = slices.Clone(schema.Fields), slices.Clone(schema.Parts)
	snap.Schema = &schema
	snap.Lanes = slices.Clone(snap.Lanes)
	for i := range snap.Lanes {
		l := &snap.Lanes[i]
		l.Samples, l.Packets, l.Incidents = slices.Clone(l.Samples), slices.Clone(l.Packets), slices.Clone(l.Incidents)
	}
	return &snap, s
}

// Snapshot returns the snapshot of the session of NewLab at a virtual time.
func Snapshot(now time.Duration) *engine.Snapshot { return Run(steady, now) }

// NewChanged returns a lab whose encoder was relative-position until 46 s, and whose loss was 1 % until 70.4 s.
func NewChanged() *Lab { return &Lab{Snap: Changed(runLength)} }

// Changed returns the snapshot of the session of NewChanged at a virtual time.
func Changed(now time.Duration) *engine.Snapshot { return Run(changed, now) }
