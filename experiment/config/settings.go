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
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/transfer"
	"wirelab/experiment/view"
	"wirelab/internal/policy"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/traffic"
)

// This file has the scalar settings. A new setting needs a field, a default and a row, all in this file, and
// the code that uses the field.

// Data names the source of frames.
type Data struct {
	Source  string // "demo", "world", a path, ...
	Cubes   int    // rows of a walk-off recording
	Script  string // of the world
	Message int    // bytes of a message of a text
	Loop    bool   // restart the recording at its end; only if Duration is set
	Again   bool   // deliver files repeatedly, as the dashboard does; otherwise once
}

// senderSettings configure the sender.
type senderSettings struct {
	RateHz  int // snapshots per second that are taken from the source, at most its rate
	Every   int // every Every-th of them is sent; can be changed during a session
	History int // frames stored, 1 to 255

	Control policy.Policy // decides which snapshots are sent; zero sends all

	Budget      int64         // headers and payloads in bits per second; 0 means no limit
	BudgetBurst int64         // most that a packet may take of the budget, in thousandths of a packet
	Priority    policy.Policy // one of view.Policies; zero means the first
	Weights     view.Weights  // of fields and groups of rows in priorities

	Block  int // bytes of a file per datagram
	Window int // maximum number of unacknowledged datagrams with parts of a file

	Redundancy policy.Policy // one of container.Redundancies; zero if it was never set, which means none
}

// receiverSettings configure the receiver.
type receiverSettings struct {
	History int           // frames stored, 1 to 255
	Playout time.Duration // playout delay: how far the display is behind the newest expected snapshot

	PlayoutPolicy  policy.Policy // policy that replaces the fixed playout delay; zero for none
	PlayoutCompare string        // playout policies to run beside the display's, in the form of Values; "" for none

	// Hermite selects cubic Hermite interpolation between snapshots, with velocities estimated from
	// the neighbouring snapshots, which suits low rates; otherwise interpolation is linear.
	// Orientations are interpolated by the normalised mean of quaternions in both cases.
	Hermite bool

	// DisplayMilliHz is the refresh rate of the display in 1/1000 Hz; 0 means synchronous with the
	// source. Real displays are not: one of 59.9 Hz shows the snapshots at every phase within ten
	// seconds.
	DisplayMilliHz int
}

// DisplayMilliHz returns the refresh rate of the display in 1/1000 Hz, for data with tickHz ticks per second.
func (c *Config) DisplayMilliHz(tickHz int) int {
	if c.Receiver.DisplayMilliHz > 0 {
		return c.Receiver.DisplayMilliHz
	}
	return 1000 * tickHz
}

// defaultScalars returns a configuration with the defaults of the scalar settings.
func defaultScalars() Config {
	return Config{
		Seed: 7, BudgetKbps: defaultBudget,
		Data:     Data{Source: "demo", Cubes: frame.WalkoffCubes, Loop: true, Script: "random", Message: messages.DefaultMessage},
		Sender:   senderSettings{RateHz: 60, Every: 1, History: frame.MaxHistory, Block: 1200, Window: 128, BudgetBurst: defaultBurst},
		Interest: defaultInterest,
		Messages: defaultMessages,
		Receiver: receiverSettings{History: frame.MaxHistory, Playout: 85 * time.Millisecond},
		Crowd:    crowd{Baseline: baselines.Default("newest"), Uplink: Uplink{QueueBytes: 1_000_000}, PlayerRows: 1},
	}
}

// Limits of settings.
const (
	maxEvery  = 60 // 1 snapshot per second at 60 Hz
	minBlock  = transfer.MinBlock
	maxBlock  = 1400
	maxWindow = transfer.MaxAhead
	maxBudget = 1_000_000 // kbps

	// MaxDuration is the longest run, in virtual time.
	MaxDuration = 1000 * time.Hour
)

// HasFileData reports whether the data are files.
func (c *Config) HasFileData() bool {
	kind, _, _ := strings.Cut(c.Data.Source, ":")
	return kind == "files"
}

// isDefaultDelivery reports whether the settings of the delivery of files can be left out: the data are not
// files, and the settings have their defaults.
func isDefaultDelivery(c *Config) bool {
	defaults := Default().Sender
	return !c.HasFileData() && c.Sender.Block == defaults.Block && c.Sender.Window == defaults.Window
}

// scriptNames returns the names of the scripts that play the world.
func scriptNames() (names []string) {
	for _, s := range world.Scripts() {
		names = append(names, s.Name)
	}
	return names
}

// rows returns the table of scalar settings, which excludes links, encoder and lists. Live settings come
// first, in the order of the JSON of a Change. The table is made once because every Set searches it.
var rows = sync.OnceValue(func() []scalarSetting {
	return slices.Concat(liveSettings(), dataSettings(), endpointSettings(), messageSettings(), crowdSettings(), interestSettings())
})

// liveRows returns the rows that can be changed while a session runs.
var liveRows = sync.OnceValue(func() []*scalarSetting {
	var live []*scalarSetting
	for i := range rows() {
		if s := &rows()[i]; s.Short != "" {
			live = append(live, s)
		}
	}
	return live
})

// imperfect is the need of settings that matter only if packets are delayed or lost.
const imperfect = "a setting of down or up"

// displayed is the need of settings of the display: files are not displayed.
const displayed = "data.source != files"

// liveSettings returns the settings that can change while a session runs. Short is the name of the command,
// Args and CommandHelp are its help. Label and Position are the name and the order of the control on the screen,
// and IsShown reports whether it is shown.
func liveSettings() []scalarSetting {
	return append([]scalarSetting{
		{Row: playoutRow(playoutKey), Short: playoutName, Args: "TIME|POLICY", Label: "Playout", Policies: playout.Policies,
			CommandHelp: "playout delay of the receiver, or the policy that adapts it",
			omit:        func(c *Config) bool { return !c.Playout().IsFixed() }},
		{Row: withNeeds(compareRow(), displayed), Short: "playout_compare", Args: "POLICY,...|all|off", Completions: []string{"all", "off"},
			CommandHelp: "measure further playout policies on the same arrivals",
			omit:        func(c *Config) bool { return c.Receiver.PlayoutCompare == "" }},
		{Row: everyRow(), Short: "every", Args: "N", Label: "Send", Position: 2,
			CommandHelp: "send only every N-th snapshot; 1 sends all",
			IsShown:     func(c *Config) bool { return hasLowRate(c) || c.Sender.Every > 1 }},
		{Row: controlRow(), Short: "control", Args: "POLICY|off", Policies: endpoint.Controls, Completions: []string{noControl},
			CommandHelp: "policy that decides which snapshots are sent",
			omit:        func(c *Config) bool { return c.Sender.Control == (policy.Policy{}) }},
		{Row: withNeeds(interpolationRow(), displayed), Short: "interpolation", Args: "linear|hermite", Label: "Blend", Position: 1,
			CommandHelp: "interpolation between snapshots",
			IsShown:     func(c *Config) bool { return hasLowRate(c) || c.Receiver.Hermite }},
		{Row: redundancyRow(), Short: "redundancy", Args: "POLICY", Label: "Repair", Position: 4, Policies: container.Redundancies,
			CommandHelp: "redundancy that repairs lost packets", IsShown: (*Config).HasRedundancy,
			omit: func(c *Config) bool { return c.Sender.Redundancy.Name() == "" }},
		{Row: budgetRow(), Short: "budget", Args: "KBPS|off", Completions: []string{"off"}, Label: "Budget", Position: 3,
			CommandHelp: "payload limit, a line in the chart",
			omit:        func(c *Config) bool { return c.BudgetKbps == defaultBudget }},
		{Row: trafficRow(), Short: "traffic", Args: "N KIND|off", Policies: traffic.Kinds, Completions: []string{traffic.Off},
			CommandHelp: "other traffic on the downlink, such as 1 cubic or 4 cubic rtt=80ms",
			omit:        func(c *Config) bool { return len(c.Traffic) == 0 }, brief: briefTraffic},
		clientsRow(),
		{Row: scalarRow("seed", "a whole number from 0", func(c *Config) any { return seedValue(c.Seed) },
			func(c *Config, v any) bool { return setUint(&c.Seed, v) }),
			Short: "seed", Restarts: true, Args: "N", CommandHelp: "restart the run with another seed"},
	}, budgetSettings()...)
}

// dataSettings returns the settings of the data and the duration.
func dataSettings() []scalarSetting {
	script := scalarRow("data.script", "the name of a script of the world", func(c *Config) any { return c.Data.Script },
		func(c *Config, v any) bool {
			return setText(&c.Data.Script, v) && slices.Contains(scriptNames(), c.Data.Script)
		})
	return []scalarSetting{
		{Row: durationRow("duration", `a time such as "60s" or "2m"; "0s" means once through a recording, or 60 s of an endless source`,
			MaxDuration, func(c *Config) *time.Duration { return &c.Duration }),
			omit: func(c *Config) bool { return c.Duration == 0 }},
		{Row: textRow("data.source", `a data spec such as "demo" or "file:walk.bin.zst"`,
			func(c *Config) *string { return &c.Data.Source })},
		{Row: withNeeds(script, "data.source = world"), names: scriptNames()},
		{Row: withNeeds(intRow("data.cubes", "1 to 65535", 1, 65535, func(c *Config) *int { return &c.Data.Cubes }), "data.source = file or data.source = world")},
		{Row: withNeeds(intRow("data.message", "1 to 16383 bytes", 1, messages.MaxMessage, func(c *Config) *int { return &c.Data.Message }), "data.source = text")},
		{Row: withNeeds(boolRow("data.loop", func(c *Config) *bool { return &c.Data.Loop }), "duration")},
		{Row: withNeeds(boolRow("data.again", func(c *Config) *bool { return &c.Data.Again }), "data.source = files"),
			omit: func(c *Config) bool { return !c.Data.Again || !c.HasFileData() }},
	}
}

// endpointSettings returns the settings of sender and receiver that a session cannot change.
func endpointSettings() []scalarSetting {
	return []scalarSetting{
		{Row: intRow("sender.rate_hz", "1 to 1000", 1, 1000, func(c *Config) *int { return &c.Sender.RateHz })},
		{Row: withNeeds(intRow("sender.history", "1 to 255 frames", 1, frame.MaxHistory, func(c *Config) *int { return &c.Sender.History }), imperfect)},
		{Row: withNeeds(intRow("sender.block", fmt.Sprintf("%d to %d bytes", minBlock, maxBlock), minBlock, maxBlock,
			func(c *Config) *int { return &c.Sender.Block }), "data.source = files"), omit: isDefaultDelivery},
		{Row: withNeeds(intRow("sender.window", fmt.Sprintf("1 to %d datagrams", maxWindow), 1, maxWindow,
			func(c *Config) *int { return &c.Sender.Window }), "data.source = files"), omit: isDefaultDelivery},
		{Row: withNeeds(playoutRow(playoutPolicyKey), displayed), omit: func(c *Config) bool { return c.Playout().IsFixed() }},
		{Row: withNeeds(intRow("receiver.history", "1 to 255 frames", 1, frame.MaxHistory,
			func(c *Config) *int { return &c.Receiver.History }), imperfect)},
		{Row: withNeeds(scalarRow("receiver.display_hz", "0 (synchronous with the source), or 1 to 1000, such as 59.9",
			func(c *Config) any { return float64(c.Receiver.DisplayMilliHz) / 1000 },
			func(c *Config, v any) bool { return setMilliHz(&c.Receiver.DisplayMilliHz, v) }), displayed)},
	}
}

// lowRate is the rate of snapshots per second up to which the controls of rate and interpolation are shown,
// because interpolation is visible then.
const lowRate = 30

// hasLowRate reports whether at most lowRate snapshots are sent per second.
func hasLowRate(c *Config) bool { return c.Sender.RateHz/c.Sender.Every <= lowRate }

// everyRow returns the row of sender.every. A step to the right increases the rate, so it decreases the value.
func everyRow() Row {
	rungs := []int{1, 2, 3, 4, 6, 10, 12, 20, 30, 60} // divisors of 60: whole rates at 60 Hz
	r := intRow("sender.every", "1 to 60; N sends every N-th snapshot", 1, maxEvery,
		func(c *Config) *int { return &c.Sender.Every })
	r.Help = "snapshots sent per second: every N-th of those taken from the source"
	r.DisplayText = func(c *Config) string {
		return units.FormatDecimal(float64(c.Sender.RateHz)/float64(c.Sender.Every)) + " /s"
	}
	last := len(rungs) - 1 // the ladder is rungs in reverse order
	return withLadder(r, len(rungs), func(c *Config) int {
		rung, _ := slices.BinarySearch(rungs, c.Sender.Every)
		return last - rung
	}, func(i int) any { return int64(rungs[last-i]) })
}

// interpolations are the names of the values of Receiver.Hermite.
var interpolations = map[bool]string{false: "linear", true: "hermite"}

// setInterpolation sets the interpolation by name, in any case, and reports whether v is valid.
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
	r := scalarRow("receiver.interpolation", `"linear" or "hermite"`, func(c *Config) any { return interpolations[c.Receiver.Hermite] },
		setInterpolation)
	r.Help = "interpolation of the receiver's display between snapshots"
	r.Options = []setting.Option{
		{Name: interpolations[false], Summary: "on a straight line"},
		{Name: interpolations[true], Summary: "cubic, with velocities estimated from neighbouring snapshots; for low rates"},
	}
	r.Step = func(c *Config, n int) (any, bool) {
		const changed = true
		return setting.Cycle(r.Options, interpolations[c.Receiver.Hermite], n), changed
	}
	return r
}

// defaultBudget is the budget of the walk-off, in kbps.
const defaultBudget = 256

// budgetRow returns the table row of the setting "budget".
func budgetRow() Row {
	// The values of the control in kbps; 0 means no budget.
	levels := []float64{0, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 2000, 5000, 10_000}
	r := scalarRow("budget", `kbps such as 256, or "off"`, func(c *Config) any { return budgetValue(c.BudgetKbps) },
		func(c *Config, v any) bool { return setBudget(&c.BudgetKbps, v) })
	r.Help = "limit of the payload rate, shown as a line in the bandwidth chart. Totals contain the time above it"
	r.DisplayText = func(c *Config) string {
		if c.BudgetKbps == 0 {
			return "off"
		}
		return units.FormatDecimal(c.BudgetKbps) + " kbps"
	}
	return withLadder(r, len(levels), func(c *Config) int {
		index, _ := slices.BinarySearch(levels, c.BudgetKbps)
		return min(index, len(levels)-1)
	}, func(i int) any { return budgetValue(levels[i]) })
}

// budgetValue returns a budget as in a file; 0 is "off".
func budgetValue(kbps float64) any {
	if kbps == 0 {
		return "off"
	}
	return kbps
}

// setBudget parses a budget in kbps, or "off", and reports whether v is valid.
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

// seedValue returns a seed as in TOML and JSON: as text from 2^53 on, because JSON readers convert numbers to
// float64.
func seedValue(seed uint64) any {
	if seed >= 1<<53 {
		return strconv.FormatUint(seed, 10)
	}
	return int64(seed)
}
