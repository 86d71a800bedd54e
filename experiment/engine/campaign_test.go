package engine

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	campaign = flag.Duration("campaign", 0, "how long TestCampaign plays random schedules; 0: a few of them")
	only     = flag.Int64("schedule", -1, "the one schedule that TestCampaign plays, by its number")
)

// tally contains the results of a campaign so far.
type tally struct {
	mu        sync.Mutex
	schedules int
	packets   int64            // of the final sessions of schedules, with their shadows
	replayed  int64            // of sessions that repeated one, for a replay or a seek
	virtual   time.Duration    // of the final sessions of schedules
	ops       map[string]int64 // number of executions of each operation
	worlds    map[string]int64 // packets by kind of data
	codecs    map[string]int64 // packets by encoder
}

func newTally() *tally {
	return &tally{ops: map[string]int64{}, worlds: map[string]int64{}, codecs: map[string]int64{}}
}

// add adds the results of a schedule that has ended.
func (a *tally) add(x *schedule, packets int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.schedules++
	a.packets += packets
	a.replayed += x.replayed
	a.virtual += x.session.Now()
	a.worlds[x.world] += packets
	for op, n := range x.ops {
		a.ops[op] += n
	}
	for codec, n := range x.census {
		a.codecs[codec] += n
	}
	for _, l := range x.session.lanes[1:] {
		a.codecs[l.config.Name] += l.totals(x.session.Now()).Sent
	}
}

// formatCounts formats counts, the largest first.
func formatCounts(of map[string]int64) string {
	sum := int64(0)
	for _, n := range of {
		sum += n
	}
	var list []string
	for _, name := range slices.SortedFunc(maps.Keys(of), func(a, b string) int { return cmp.Compare(of[b], of[a]) }) {
		list = append(list, fmt.Sprintf("%s %d (%.1f %%)", name, of[name], 100*float64(of[name])/float64(sum)))
	}
	return strings.Join(list, ", ")
}

// runSchedules runs schedules on all cores until the deadline, but at least minimum of them.
func (a *tally) runSchedules(t *testing.T, next *atomic.Uint64, least uint64, until time.Time) {
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for !t.Failed() && (next.Load() < least || time.Now().Before(until)) {
				x := newSchedule(t, next.Add(1)-1)
				a.add(x, x.play())
			}
		})
	}
	all.Wait()
}

// memoryAtRest returns the memory in use while no session is running.
func memoryAtRest() (live uint64, goroutines int) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc, runtime.NumGoroutine()
}

// TestCampaign runs random schedules of link settings (every stage), swaps, changes of parameters,
// shadows, outages, pauses, seeks, saves and replays, over every encoder. No frame is wrong, the
// outcomes add up, every report replays to the same digest, and between two schedules no more
// memory is in use than after the first minute. README.md describes the campaign of an hour
// (-campaign 1h).
func TestCampaign(t *testing.T) {
	const few = 25
	if *only >= 0 {
		t.Logf("%d packets", newSchedule(t, uint64(*only)).play())
		return
	}
	begun, done := time.Now(), newTally()
	var next atomic.Uint64
	done.runSchedules(t, &next, few, begun) // creates the encoders' global tables
	var live uint64                         // between schedules, after the first minute
	var goroutines int
	for !t.Failed() && time.Since(begun) < *campaign {
		first := live == 0
		done.runSchedules(t, &next, 0, time.Now().Add(min(time.Minute, *campaign-time.Since(begun))))
		nowLive, nowGoroutines := memoryAtRest()
		t.Logf("%v: %d schedules, %.2f M packets, %.2f M in replays, %.1f h of virtual time; between schedules %.2f MB live, %d goroutines",
			time.Since(begun).Round(time.Second), done.schedules, float64(done.packets)/1e6, float64(done.replayed)/1e6,
			done.virtual.Hours(), float64(nowLive)/1e6, nowGoroutines)
		if first {
			live, goroutines = nowLive, nowGoroutines
		}
		if nowLive > live+live/4+1<<20 || nowGoroutines > goroutines {
			t.Errorf("%d bytes and %d goroutines between schedules, %d and %d at first", nowLive, nowGoroutines, live, goroutines)
		}
	}
	t.Logf("%d schedules; what was done: %s", done.schedules, formatCounts(done.ops))
	t.Logf("%d packets, and %d more in replays; by what was sent: %s", done.packets, done.replayed, formatCounts(done.worlds))
	t.Logf("by encoder: %s", formatCounts(done.codecs))
	if len(done.ops) < 12 && !t.Failed() {
		t.Errorf("only %v was done: too little was tested", done.ops)
	}
}
