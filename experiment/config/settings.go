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

// Sender is what the sending endpoint is set to.
type Sender struct {
	RateHz  int // snapshots made a second, at most the source's rate
	Every   int // one in Every of them is sent; a session can change it while it runs
	History int // frames kept, 1..255

	Block  int // bytes of a file that go in a datagram
	Window int // datagrams with parts of a file that may be under way
}

// Receiver is what the receiving endpoint is set to.
type Receiver struct {
	History int           // frames kept, 1..255
	Playout time.Duration // how far the display stays behind the newest expected snapshot

	DigestBits int // of each frame, that are reported to the sender; 0: none

	Interpolation Interpolation // how the display moves from one snapshot to the next

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
		Sender:   Sender{RateHz: 60, Every: 1, History: frame.MaxHistory, Block: 1200, Window: 128},
		Receiver: Receiver{History: frame.MaxHistory, Playout: 85 * time.Millisecond},
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

// rows returns the table. It is made once, since it is searched for every key.
var rows = sync.OnceValue(settings)

// liveRows lists the rows that can be changed while a session runs.
var liveRows = sync.OnceValue(func() []*Setting {
	var live []*Setting
	for i := range rows() {
		if s := &rows()[i]; s.Live != Fixed {
			live = append(live, s)
		}
	}
	return live
})

// settings lists the scalar settings outside the links, the encoder and the lists. The
// order of the live ones is that of their JSON and of the controls.
func settings() []Setting {
	return []Setting{
		{Key: "receiver.playout_delay", Short: playoutName, Live: Live, Expected: `a time such as "85ms"`,
			Args: "TIME", Help: "how long the receiver holds snapshots back", Control: playoutControl(),
			set: func(c *Config, v any) bool { return setDuration(&c.Receiver.Playout, v, 0, time.Hour) },
			get: func(c *Config) any { return c.Receiver.Playout.String() }},
		{Key: "sender.every", Short: "every", Live: Live, Expected: "1 to 60: every so many-th snapshot is sent",
			Args: "N", Help: "send every N-th snapshot only; 1 sends all", Control: everyControl(),
			set: func(c *Config, v any) bool { return setInt(&c.Sender.Every, v, 1, maxEvery) },
			get: func(c *Config) any { return int64(c.Sender.Every) }},
		{Key: "receiver.interpolation", Short: "interpolation", Live: Live, Expected: `"linear" or "hermite"`,
			Args: "linear|hermite", Help: "how the display moves between snapshots", Control: interpolationControl(),
			set: func(c *Config, v any) bool { return setInterpolation(&c.Receiver.Interpolation, v) },
			get: func(c *Config) any { return c.Receiver.Interpolation.String() }},
		{Key: "budget", Short: "budget", Live: Live, Expected: `kbps such as 256, or "off"`,
			Args: "KBPS|off", Words: []string{"off"}, Help: "payload not to exceed: the line in the chart", Control: budgetControl(),
			set:  func(c *Config, v any) bool { return setBudget(&c.BudgetKbps, v) },
			get:  func(c *Config) any { return budgetValue(c.BudgetKbps) },
			omit: func(c *Config) bool { return c.BudgetKbps == usualBudget }},
		{Key: "seed", Short: "seed", Live: Restarts, Expected: "a whole number from 0",
			Args: "N", Help: "begin the run anew with another seed",
			set: func(c *Config, v any) bool { return setUint(&c.Seed, v) },
			get: func(c *Config) any { return seedValue(c.Seed) }},

		{Key: "duration", Expected: `a time such as "60s" or "2m"; "0s" is once through a recording, or 60 s of what has no end`,
			set:  func(c *Config, v any) bool { return setDuration(&c.Duration, v, 0, MaxDuration) },
			get:  func(c *Config) any { return c.Duration.String() },
			omit: func(c *Config) bool { return c.Duration == 0 }},
		{Key: "data.source", Expected: `a data spec such as "demo" or "file:walk.bin.zst"`,
			set: func(c *Config, v any) bool { return setText(&c.Data.Source, v) },
			get: func(c *Config) any { return c.Data.Source }},
		{Key: "data.script", Expected: "the name of a script of the world", words: scripts(),
			set: func(c *Config, v any) bool {
				return setText(&c.Data.Script, v) && slices.Contains(scripts(), c.Data.Script)
			},
			get: func(c *Config) any { return c.Data.Script }},
		{Key: "data.cubes", Expected: "1 to 65535",
			set: func(c *Config, v any) bool { return setInt(&c.Data.Cubes, v, 1, 65535) },
			get: func(c *Config) any { return int64(c.Data.Cubes) }},
		{Key: "data.message", Expected: "1 to 16383 bytes",
			set: func(c *Config, v any) bool { return setInt(&c.Data.Message, v, 1, messages.MaxMessage) },
			get: func(c *Config) any { return int64(c.Data.Message) }},
		{Key: "data.loop", Expected: "true or false",
			set: func(c *Config, v any) bool { return setBool(&c.Data.Loop, v) },
			get: func(c *Config) any { return c.Data.Loop }},
		{Key: "data.again", Expected: "true or false",
			set:  func(c *Config, v any) bool { return setBool(&c.Data.Again, v) },
			get:  func(c *Config) any { return c.Data.Again },
			omit: func(c *Config) bool { return !c.Data.Again || !c.files() }},
		{Key: "sender.rate_hz", Expected: "1 to 1000",
			set: func(c *Config, v any) bool { return setInt(&c.Sender.RateHz, v, 1, 1000) },
			get: func(c *Config) any { return int64(c.Sender.RateHz) }},
		{Key: "sender.history", Expected: "1 to 255 frames",
			set: func(c *Config, v any) bool { return setInt(&c.Sender.History, v, 1, frame.MaxHistory) },
			get: func(c *Config) any { return int64(c.Sender.History) }},
		{Key: "sender.block", Expected: fmt.Sprintf("%d to %d bytes", minBlock, maxBlock),
			set:  func(c *Config, v any) bool { return setInt(&c.Sender.Block, v, minBlock, maxBlock) },
			get:  func(c *Config) any { return int64(c.Sender.Block) },
			omit: usualDelivery},
		{Key: "sender.window", Expected: fmt.Sprintf("1 to %d datagrams", maxWindow),
			set:  func(c *Config, v any) bool { return setInt(&c.Sender.Window, v, 1, maxWindow) },
			get:  func(c *Config) any { return int64(c.Sender.Window) },
			omit: usualDelivery},
		{Key: "receiver.history", Expected: "1 to 255 frames",
			set: func(c *Config, v any) bool { return setInt(&c.Receiver.History, v, 1, frame.MaxHistory) },
			get: func(c *Config) any { return int64(c.Receiver.History) }},
		{Key: "receiver.digest", Expected: "0 (none), 8, 16, 24 or 32 bits",
			set: func(c *Config, v any) bool {
				bits := 0
				ok := setInt(&bits, v, 0, maxDigest) && bits%8 == 0
				if ok {
					c.Receiver.DigestBits = bits
				}
				return ok
			},
			get:  func(c *Config) any { return int64(c.Receiver.DigestBits) },
			omit: func(c *Config) bool { return c.Receiver.DigestBits == 0 }},
		{Key: "receiver.display_hz", Expected: "0 (in step with the source), or 1 to 1000, such as 59.9",
			set: func(c *Config, v any) bool { return setMilliHz(&c.Receiver.DisplayMilliHz, v) },
			get: func(c *Config) any { return float64(c.Receiver.DisplayMilliHz) / 1000 }},
	}
}

// playoutStep is one press on the playout delay.
const playoutStep = 5 * time.Millisecond

func playoutControl() *Control {
	return &Control{Label: "Playout",
		Help: "how long the receiver holds snapshots back: three intervals and the jitter outlast two losses in a row. " +
			"Its display slows down or hurries to a new delay, it never jumps back",
		Shown: func(c *Config) string { return c.Receiver.Playout.String() },
		Step: func(c *Config, n int) (any, bool) {
			d := max(c.Receiver.Playout+time.Duration(n)*playoutStep, 0)
			return d.String(), d != c.Receiver.Playout
		}}
}

// lowRate is how few snapshots a second are few: what the display does between two of
// them can be seen, and its controls are offered.
const lowRate = 30

func sendsFew(c *Config) bool { return c.Sender.RateHz/c.Sender.Every <= lowRate }

// everies are the rungs of Sender.Every, from all to one in sixty.
var everies = []int{1, 2, 3, 4, 6, 10, 12, 20, 30, 60}

func everyControl() *Control {
	x := &Control{Label: "Send", Place: 2, Help: "snapshots sent a second: every so many-th of those that are made",
		Shown: func(c *Config) string {
			return units.FormatDecimal(float64(c.Sender.RateHz)/float64(c.Sender.Every)) + " /s"
		},
		Offered: func(c *Config) bool { return sendsFew(c) || c.Sender.Every > 1 }}
	last := len(everies) - 1
	return x.rungs(len(everies), func(c *Config) int { // more to the right is more a second
		at, _ := slices.BinarySearch(everies, c.Sender.Every)
		return last - at
	}, func(i int) any { return int64(everies[last-i]) })
}

func interpolationControl() *Control {
	x := &Control{Label: "Blend", Place: 1, Help: "how the receiver's display moves from one snapshot to the next",
		Choices: []Choice{
			{Linear.String(), "on the straight line"},
			{Hermite.String(), "on a cubic, with velocities reckoned from the snapshots around: for low rates"},
		},
		Shown:   func(c *Config) string { return c.Receiver.Interpolation.String() },
		Offered: func(c *Config) bool { return sendsFew(c) || c.Receiver.Interpolation != Linear }}
	x.Step = func(c *Config, n int) (any, bool) {
		i := int(c.Receiver.Interpolation) + n
		return x.Choices[(i%len(x.Choices)+len(x.Choices))%len(x.Choices)].Name, true
	}
	return x
}

// usualBudget is that of the walk-off, in kbps.
const usualBudget = 256

// budgets are the rungs of BudgetKbps; 0 is none.
var budgets = []float64{0, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 2000, 5000, 10_000}

func budgetControl() *Control {
	x := &Control{Label: "Budget", Place: 3, Help: "payload a second that must not be exceeded: the line in the bandwidth chart. Totals say for how long it was",
		Shown: func(c *Config) string {
			if c.BudgetKbps == 0 {
				return "off"
			}
			return units.FormatDecimal(c.BudgetKbps) + " kbps"
		}}
	return x.rungs(len(budgets), func(c *Config) int {
		at, _ := slices.BinarySearch(budgets, c.BudgetKbps)
		return min(at, len(budgets)-1)
	}, func(i int) any { return budgetValue(budgets[i]) })
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
