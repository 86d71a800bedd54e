package ui

import (
	"time"

	"wirelab/experiment"
	"wirelab/experiment/engine"
)

// past is the moment that the screen shows while somebody looks back. Time stands
// still meanwhile; what is shown is cut out of what the lab remembers, so that
// every pane shows the moment without knowing that it is over.
type past struct {
	away bool
	at   time.Duration // shown is what had been measured until then

	cut  *engine.Snapshot // the picture last cut out, and what of
	from window
}

// window is a stretch of a session's memory; to is 0 if it reaches to the present.
type window struct {
	snap     *engine.Snapshot
	from, to time.Duration
}

// How far one press goes.
const (
	glance = engine.SamplePeriod
	stride = time.Second
)

// shown is the snapshot that the panes see: the newest, unless somebody looks back
// or the tour leaves away what was before it.
func (m *Model) shown() *engine.Snapshot {
	w := window{snap: m.snap}
	if m.past.away {
		w.to = m.past.at
	}
	if m.tour != nil {
		w.from = m.tour.from
	}
	if w.from == 0 && w.to == 0 {
		return m.snap
	}
	if m.past.cut == nil || m.past.from != w {
		m.past.cut, m.past.from = w.cut(), w
	}
	return m.past.cut
}

// look moves the moment that is shown by d; into the past it stops time.
func (m *Model) look(d time.Duration) {
	at := m.snap.Now.Truncate(glance)
	if m.past.away {
		at = m.past.at
	} else if d > 0 {
		return // nothing comes after the present
	}
	m.lookAt(at + d)
}

// lookAt shows the moment t, as far as it is remembered.
func (m *Model) lookAt(t time.Duration) {
	if m.snap.State == engine.Running {
		yes := true
		m.send(experiment.Command{Pause: &yes})
	}
	if t >= m.snap.Now.Truncate(glance) {
		m.present()
		return
	}
	m.past.away, m.past.at = true, max(t, m.oldest())
	m.again()
}

// oldest is the first moment that can be looked back to.
func (m *Model) oldest() time.Duration {
	if len(m.snap.Lanes) == 0 || len(m.snap.Lanes[0].Samples) == 0 {
		return m.snap.Now
	}
	return m.snap.Lanes[0].Samples[0].T
}

// present goes back to the newest.
func (m *Model) present() {
	if m.past.away {
		m.past = past{}
		m.again()
	}
}

// lookMark shows the moment of the next mark on the way into the past (-1) or out
// of it (1).
func (m *Model) lookMark(way int) {
	now := m.shown().Now
	marks := m.snap.Marks
	if way > 0 {
		for _, k := range marks {
			if at := markMoment(k); at > now {
				m.lookAt(at)
				return
			}
		}
		m.present()
		return
	}
	for i := len(marks) - 1; i >= 0; i-- {
		if at := markMoment(marks[i]); at < now && at > m.oldest() {
			m.lookAt(at)
			return
		}
	}
	m.say("no mark before this moment is remembered; m makes one", true)
}

// markMoment is a little after a mark, so that it is in sight with what it did.
func markMoment(k engine.Mark) time.Duration {
	return (k.T + 2*stride).Truncate(glance)
}

// pastKeys are the keys that the footer names while somebody looks back.
func (m *Model) pastKeys() []binding {
	var list []binding
	for _, k := range [][3]string{{"<", "< >", "a second"}, {",", ", .", "a tenth"}, {"b", "b B", "marks"}, {"home", "home", "oldest"}, {"end", "end", "present"}, {" ", "space", "go on"}} {
		for _, b := range m.keys {
			if b.page == nil && b.Keys()[0] == k[0] {
				b = b.inFooter(k[2])
				b.SetHelp(k[1], k[2])
				b.pinned = k[0] != "home" && k[0] != ","
				list = append(list, b)
			}
		}
	}
	return list
}

// forward shows a tenth of a second more of the past; in the present it lets the
// lab do one more frame.
func (m *Model) forward() {
	if m.past.away {
		m.look(glance)
		return
	}
	m.send(experiment.Command{Step: 1})
}

// again shows everything anew.
func (m *Model) again() {
	m.page().observe(m.sight(true))
	m.stale = true
}

// cut makes the snapshot of a window. What only sums over the whole run can tell,
// such as the median size of a packet, stays as it is now.
func (w window) cut() *engine.Snapshot {
	snap := *w.snap
	snap.Lanes = make([]engine.Lane, len(w.snap.Lanes))
	for i := range snap.Lanes {
		snap.Lanes[i] = w.lane(&w.snap.Lanes[i])
	}
	if w.to > 0 {
		snap.Now = w.to
		n := len(snap.Marks)
		for n > 0 && snap.Marks[n-1].T > w.to {
			n--
		}
		snap.Marks = snap.Marks[:n:n]
	}
	return &snap
}

func (w window) lane(now *engine.Lane) engine.Lane {
	l := *now
	to := w.to
	if to == 0 {
		to = w.snap.Now
	}
	l.Samples = between(l.Samples, w.from, to)
	if w.to == 0 {
		return l
	}
	n := len(l.Packets)
	for n > 0 && l.Packets[n-1].Sent >= to {
		n--
	}
	l.Packets = l.Packets[:n:n]
	if n > 0 {
		l.Encoder = l.Packets[n-1].Encoder
	}
	l.Recent = engine.RecentOf(l.Samples, w.snap.Schema.TickHz)
	l.Recent.EncodeUS, l.Recent.DecodeUS = timesOf(l.Packets, to)
	l.Totals = totalsBefore(now.Totals, now.Samples, to)
	return l
}
