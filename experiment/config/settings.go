package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"wirelab/dataset/frame"
	messages "wirelab/dataset/text"
	"wirelab/dataset/world"
	"wirelab/experiment/transfer"
	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// The scalar settings. To add one takes its field, its default and its row, all in this
// file, and the code that reads the field.

// Data names the source of frames.
type Data struct {
	Source  string // "demo", "world", a path, ...
	Cubes   int    // rows of a walk-off recording
	Script  string // of the world
	Message int    // bytes of a message of a text
	Loop    bool   // begin again at the end; only where Duration is set
	Again   bool   // deliver files again and again, as the dashboard does, and not once
}

// sender is what the sending endpoint is set to.
type sender struct {
	RateHz  int // snapshots made a second, at most the source's rate
	Every   int // one in Every of them is sent; a session can change it while it runs
	History int // frames kept, 1..255

	Block  int // bytes of a file that go in a datagram
	Window int // datagrams with parts of a file that may be under way
}

// receiver is what the receiving endpoint is set to.
type receiver struct {
	History int           // frames kept, 1..255
	Playout time.Duration // how far the display stays behind the newest expected snapshot

	DigestBits int // of each frame, that are reported to the sender; 0: none

	// Hermite: the display moves from one snapshot to the next on a cubic, with velocities
	// estimated from the snapshots around, which suits low rates; else on the straight line.
	// Orientations go by the normalised mean of the quaternions in both.
	Hermite bool

	// DisplayMilliHz is how often the display shows something, in thousandths of a
	// hertz; 0 is in step with the source, which no display in the world is: one of
	// 59.9 Hz meets the snapshots at every phase within ten seconds.
	DisplayMilliHz int
}

// DisplayMilliHz is the rate of the display for data of so many ticks a second.
func (c *Config) DisplayMilliHz(tickHz int) int {
	if c.Receiver.DisplayMilliHz > 0 {
		return c.Receiver.DisplayMilliHz
	}
	return 1000 * tickHz
}

// usual returns a configuration with the scalar settings as they are if nobody sets them.
func usual() Config {
	return Config{
		Seed: 7, BudgetKbps: usualBudget,
		Data:     Data{Source: "demo", Cubes: frame.WalkoffCubes, Loop: true, Script: "random", Message: messages.DefaultMessage},
		Sender:   sender{RateHz: 60, Every: 1, History: frame.MaxHistory, Block: 1200, Window: 128},
		Receiver: receiver{History: frame.MaxHistory, Playout: 85 * time.Millisecond},
	}
}

// The bounds of some settings.
const (
	maxEvery  = 60 // one snapshot a second of 60
	minBlock  = transfer.MinBlock
	maxBlock  = 1400
	maxWindow = transfer.Reach
	maxBudget = 1_000_000 // kbps
	maxDigest = 32        // bits: endpoint.MaxDigest

	// MaxDuration is the longest run, in virtual time.
	MaxDuration = 1000 * time.Hour
)

// playoutName is the short name of the setting whose JSON is older than the table.
const playoutName = "playout_delay"

// files reports whether the data are files.
func (c *Config) files() bool {
	kind, _, _ := strings.Cut(c.Data.Source, ":")
	return kind == "files"
}

// usualDelivery reports whether what is about whole files is neither set nor of use.
func usualDelivery(c *Config) bool {
	usual := Default().Sender
	return !c.files() && c.Sender.Block == usual.Block && c.Sender.Window == usual.Window
}

// scripts lists who can play the world.
func scripts() (names []string) {
	for _, s := range world.Scripts() {
		names = append(names, s.Name)
	}
	return names
}

// rows returns the table of scalar settings outside the links, the encoder and the lists. It is
// made once, since it is searched for every key. The order of the live ones is that of their JSON.
var rows = sync.OnceValue(func() []scalar {
	return slices.Concat(liveSettings(), dataSettings(), endpointSettings())
})

// liveRows lists the rows that can be changed while a session runs.
var liveRows = sync.OnceValue(func() []*scalar {
	var live []*scalar
	for i := range rows() {
		if s := &rows()[i]; s.Short != "" {
			live = append(live, s)
		}
	}
	return live
})

func liveSettings() []scalar {
	return []scalar{
		{Row: playoutRow(), Short: playoutName, Args: "TIME", Label: "Playout",
			CommandHelp: "how long the receiver holds snapshots back"},
		{Row: everyRow(), Short: "every", Args: "N", Label: "Send", Place: 2,
			CommandHelp: "send every N-th snapshot only; 1 sends all",
			Offered:     func(c *Config) bool { return sendsFew(c) || c.Sender.Every > 1 }},
		{Row: interpolationRow(), Short: "interpolation", Args: "linear|hermite", Label: "Blend", Place: 1,
			CommandHelp: "how the display moves between snapshots",
			Offered:     func(c *Config) bool { return sendsFew(c) || c.Receiver.Hermite }},
		{Row: budgetRow(), Short: "budget", Args: "KBPS|off", Words: []string{"off"}, Label: "Budget", Place: 3,
			CommandHelp: "payload not to exceed: the line in the chart",
			omit:        func(c *Config) bool { return c.BudgetKbps == usualBudget }},
		{Row: row("seed", "a whole number from 0", func(c *Config) any { return seedValue(c.Seed) },
			func(c *Config, v any) bool { return setUint(&c.Seed, v) }),
			Short: "seed", Restarts: true, Args: "N", CommandHelp: "begin the run anew with another seed"},
	}
}

func dataSettings() []scalar {
	script := row("data.script", "the name of a script of the world", func(c *Config) any { return c.Data.Script },
		func(c *Config, v any) bool {
			return setText(&c.Data.Script, v) && slices.Contains(scripts(), c.Data.Script)
		})
	return []scalar{
		{Row: spanRow("duration", `a time such as "60s" or "2m"; "0s" is once through a recording, or 60 s of what has no end`,
			MaxDuration, func(c *Config) *time.Duration { return &c.Duration }),
			omit: func(c *Config) bool { return c.Duration == 0 }},
		{Row: textRow("data.source", `a data spec such as "demo" or "file:walk.bin.zst"`,
			func(c *Config) *string { return &c.Data.Source })},
		{Row: script, names: scripts()},
		{Row: wholeRow("data.cubes", "1 to 65535", 1, 65535, func(c *Config) *int { return &c.Data.Cubes })},
		{Row: wholeRow("data.message", "1 to 16383 bytes", 1, messages.MaxMessage, func(c *Config) *int { return &c.Data.Message })},
		{Row: switchRow("data.loop", func(c *Config) *bool { return &c.Data.Loop })},
		{Row: switchRow("data.again", func(c *Config) *bool { return &c.Data.Again }),
			omit: func(c *Config) bool { return !c.Data.Again || !c.files() }},
	}
}

func endpointSettings() []scalar {
	return []scalar{
		{Row: wholeRow("sender.rate_hz", "1 to 1000", 1, 1000, func(c *Config) *int { return &c.Sender.RateHz })},
		{Row: wholeRow("sender.history", "1 to 255 frames", 1, frame.MaxHistory, func(c *Config) *int { return &c.Sender.History })},
		{Row: wholeRow("sender.block", fmt.Sprintf("%d to %d bytes", minBlock, maxBlock), minBlock, maxBlock,
			func(c *Config) *int { return &c.Sender.Block }), omit: usualDelivery},
		{Row: wholeRow("sender.window", fmt.Sprintf("1 to %d datagrams", maxWindow), 1, maxWindow,
			func(c *Config) *int { return &c.Sender.Window }), omit: usualDelivery},
		{Row: wholeRow("receiver.history", "1 to 255 frames", 1, frame.MaxHistory,
			func(c *Config) *int { return &c.Receiver.History })},
		{Row: row("receiver.digest", "0 (none), 8, 16, 24 or 32 bits",
			func(c *Config) any { return int64(c.Receiver.DigestBits) }, setDigest),
			omit: func(c *Config) bool { return c.Receiver.DigestBits == 0 }},
		{Row: row("receiver.display_hz", "0 (in step with the source), or 1 to 1000, such as 59.9",
			func(c *Config) any { return float64(c.Receiver.DisplayMilliHz) / 1000 },
			func(c *Config, v any) bool { return setMilliHz(&c.Receiver.DisplayMilliHz, v) })},
	}
}

func setDigest(c *Config, v any) bool {
	bits := 0
	ok := setInt(&bits, v, 0, maxDigest) && bits%8 == 0
	if ok {
		c.Receiver.DigestBits = bits
	}
	return ok
}

// playoutStep is the distance between two rungs of the playout delay.
const playoutStep = 5 * time.Millisecond

func playoutRow() Row {
	r := spanRow("receiver.playout_delay", `a time such as "85ms"`, time.Hour,
		func(c *Config) *time.Duration { return &c.Receiver.Playout })
	r.Help = "how long the receiver holds snapshots back: three intervals and the jitter outlast two losses in a row. " +
		"Its display slows down or hurries to a new delay, it never jumps back"
	r.Step = func(c *Config, n int) (any, bool) {
		d := max(c.Receiver.Playout+time.Duration(n)*playoutStep, 0)
		return d.String(), d != c.Receiver.Playout
	}
	return r
}

// lowRate is the rate of snapshots, per second, up to which the motion of the display between
// two of them can be seen: its controls are offered.
const lowRate = 30

func sendsFew(c *Config) bool { return c.Sender.RateHz/c.Sender.Every <= lowRate }

func everyRow() Row {
	rungs := []int{1, 2, 3, 4, 6, 10, 12, 20, 30, 60}
	r := wholeRow("sender.every", "1 to 60: every so many-th snapshot is sent", 1, maxEvery,
		func(c *Config) *int { return &c.Sender.Every })
	r.Help = "snapshots sent a second: every so many-th of those that are made"
	r.Shown = func(c *Config) string {
		return units.FormatDecimal(float64(c.Sender.RateHz)/float64(c.Sender.Every)) + " /s"
	}
	last := len(rungs) - 1
	return climbing(r, len(rungs), func(c *Config) int { // more to the right is more a second
		at, _ := slices.BinarySearch(rungs, c.Sender.Every)
		return last - at
	}, func(i int) any { return int64(rungs[last-i]) })
}

// interpolations are the names of what Receiver.Hermite chooses.
var interpolations = map[bool]string{false: "linear", true: "hermite"}

func setInterpolation(c *Config, v any) bool {
	var name string
	if !setText(&name, v) {
		return false
	}
	name = strings.ToLower(name)
	if name != interpolations[false] && name != interpolations[true] {
		return false
	}
	c.Receiver.Hermite = name == interpolations[true]
	return true
}

func interpolationRow() Row {
	r := row("receiver.interpolation", `"linear" or "hermite"`, func(c *Config) any { return interpolations[c.Receiver.Hermite] },
		setInterpolation)
	r.Help = "how the receiver's display moves from one snapshot to the next"
	r.Options = []setting.Option{
		{Name: interpolations[false], Summary: "on the straight line"},
		{Name: interpolations[true], Summary: "on a cubic, with velocities reckoned from the snapshots around: for low rates"},
	}
	r.Step = func(c *Config, n int) (any, bool) {
		return setting.Cycle(r.Options, interpolations[c.Receiver.Hermite], n), true
	}
	return r
}

// usualBudget is that of the walk-off, in kbps.
const usualBudget = 256

func budgetRow() Row {
	rungs := []float64{0, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 2000, 5000, 10_000} // 0 is none
	r := row("budget", `kbps such as 256, or "off"`, func(c *Config) any { return budgetValue(c.BudgetKbps) },
		func(c *Config, v any) bool { return setBudget(&c.BudgetKbps, v) })
	r.Help = "payload a second that must not be exceeded: the line in the bandwidth chart. Totals say for how long it was"
	r.Shown = func(c *Config) string {
		if c.BudgetKbps == 0 {
			return "off"
		}
		return units.FormatDecimal(c.BudgetKbps) + " kbps"
	}
	return climbing(r, len(rungs), func(c *Config) int {
		at, _ := slices.BinarySearch(rungs, c.BudgetKbps)
		return min(at, len(rungs)-1)
	}, func(i int) any { return budgetValue(rungs[i]) })
}

func budgetValue(kbps float64) any {
	if kbps == 0 {
		return "off"
	}
	return kbps
}

func setBudget(dst *float64, v any) bool {
	if v == "off" {
		*dst = 0
		return true
	}
	kbps, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(fmt.Sprint(v)), "kbps"), 64)
	if err != nil || !(kbps >= 0 && kbps <= maxBudget) {
		return false
	}
	*dst = kbps
	return true
}

// seedValue is a seed as TOML and JSON can hold it: their readers make floats of
// numbers.
func seedValue(seed uint64) any {
	if seed >= 1<<53 {
		return strconv.FormatUint(seed, 10)
	}
	return int64(seed)
}
