package config

import (
	"slices"
	"strings"
	"sync"
	"time"

	"wirelab/dataset/frame"
	messages "wirelab/dataset/text"
	"wirelab/dataset/world"
	"wirelab/experiment/container"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/engine/playout"
	"wirelab/experiment/view"
	"wirelab/internal/policy"
	"wirelab/internal/setting"
	"wirelab/internal/units"
	"wirelab/lossmodel/traffic"
)

// This file has the table of the settings that have one value, not a list or a table. A new setting needs
// a field of Config and a row, both in this file or in the file of its table, and the code that reads the
// field.

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
	Priority    policy.Policy // one of view.Policies
	Weights     view.Weights  // of fields and groups of rows in priorities

	Block  int // bytes of a file per datagram
	Window int // maximum number of unacknowledged datagrams with parts of a file

	Redundancy policy.Policy // one of container.Redundancies; zero means off: no packet is in a container
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

// MaxDuration is the longest run, in virtual time.
const MaxDuration = 1000 * time.Hour

// HasFileData reports whether the data are files.
func (c *Config) HasFileData() bool {
	kind, _, _ := strings.Cut(c.Data.Source, ":")
	return kind == "files"
}

// Keys of settings that other files name.
const (
	BudgetKey      = "sender.budget"  // of the budget of the sender, which is enforced
	budgetLineKey  = "budget_line"    // of the line in the chart
	CrowdBudgetKey = "crowd.budget"   // of the budget that all clients of a crowd share
	controlKey     = "sender.control" // of the policy that decides which snapshots are sent
	priorityKey    = "sender.priority"
	weightsKey     = "sender.weights"
	radiusKey      = "interest.radius"
	interestRowKey = "interest.row"
	redundancyKey  = "sender.redundancy"
	profilesKey    = "crowd.profiles"

	// The playout of the receiver has two keys: the first accepts only a fixed delay, the second also a
	// policy.
	playoutKey       = "receiver.playout_delay"
	playoutPolicyKey = "receiver.playout"
)

// Needs of several settings. All parts between and must be met: see setting.Unmet.
const (
	and         = " and "
	imperfect   = "a setting of down or up" // packets are delayed or lost
	displayed   = "data.source != files"    // files are not displayed
	filesOnly   = "data.source = files"
	anyBudget   = "sender.budget or crowd.budget"
	usesWeights = "sender.priority != round-robin"
	usesChanges = "sender.priority != newest-change"
	hasMessages = "messages.rate_hz or messages.burst or messages.delivery = stream"
)

// Rows returns the table of settings, which excludes links, encoder and lists. Controls and commands have
// the same order. The table is made once because every Set searches it.
var Rows = sync.OnceValue(func() []Row {
	all := slices.Concat(receiverRows(), senderRows(), budgetRows(), runRows(), messageRows(), crowdRows())
	for i := range all {
		r := &all[i]
		if _, isPolicy := r.field(&Config{}).(*policy.Policy); isPolicy {
			r.Options = r.Policies.Options()
		}
	}
	return all
})

// receiverRows returns the settings of the receiver and its display.
func receiverRows() []Row {
	return []Row{
		{Key: playoutKey, Short: "playout_delay", Default: "85ms",
			Expected: `a time such as "85ms"; policies are set by receiver.playout`,
			Field:    func(c *Config) any { return playoutField{&c.Receiver, true} }},
		{Key: playoutPolicyKey, Short: "playout", Label: "Playout", Args: "TIME|POLICY",
			Policies: playout.Policies, Needs: displayed,
			CommandHelp: "playout delay of the receiver, or the policy that adapts it",
			Help: "playout delay: how long the receiver buffers snapshots. Three intervals plus the jitter cover two consecutive losses. " +
				"After a change the display runs slower or faster until it has the new delay; it never jumps back. A policy adapts the delay",
			Expected: "a time such as 85ms, or " + playout.Policies.Expected(),
			Field:    func(c *Config) any { return playoutField{&c.Receiver, false} }},
		{Key: "receiver.playout_compare", Short: "playout_compare", Args: "POLICY,...|all|off",
			CommandHelp: "measure further playout policies on the same arrivals",
			Needs:       displayed,
			Expected:    `a list of times and policies such as "60ms, mirror, age quantile=99%", "all" or "off"`,
			Field: func(c *Config) any {
				return parsed[string]{&c.Receiver.PlayoutCompare, parseCompared, textOrOff}
			}},
		{Key: "receiver.interpolation", Words: "interpolation", Short: "interpolation",
			Args: "linear|hermite", Label: "Blend", Needs: displayed,
			CommandHelp: "interpolation between snapshots",
			Help:        "interpolation of the receiver's display between snapshots",
			Options: []setting.Option{{Name: "linear", Summary: "on a straight line"},
				{Name: "hermite", Summary: "cubic, with velocities estimated from neighbouring snapshots; for low rates"}},
			IsShown: hasLowRate, Field: func(c *Config) any { return &c.Receiver.Hermite }},
		{Key: "receiver.history", Default: frame.MaxHistory, Min: 1, Max: frame.MaxHistory,
			Unit: "frames", Needs: imperfect},
		{Key: "receiver.display_hz", Words: "display rate in Hz", Min: 1, Max: 1000,
			Scale: 1000, Zero: "0", Needs: displayed,
			Expected: "0 (synchronous with the source), or 1 to 1000, such as 59.9",
			Field:    func(c *Config) any { return &c.Receiver.DisplayMilliHz }},
	}
}

// senderRows returns the settings of the sender except the budget.
func senderRows() []Row {
	return []Row{
		// At 60 Hz the stops are whole rates, which increase to the right, and the maximum is one a second.
		{Key: "sender.every", Words: "send every n-th frame", Short: "every", Args: "N",
			Label: "Send", Default: 1, Min: 1, Max: 60,
			CommandHelp: "send only every N-th snapshot; 1 sends all",
			Help:        "snapshots sent per second: every N-th of those taken from the source",
			Ladder:      []float64{60, 30, 20, 12, 10, 6, 4, 3, 2, 1}, Display: func(c *Config) string {
				return units.FormatDecimal(float64(c.Sender.RateHz)/float64(c.Sender.Every)) + " /s"
			},
			IsShown: hasLowRate},
		{Key: controlKey, Short: "control", Args: "POLICY|off", Policies: endpoint.Controls, Zero: off,
			CommandHelp: "policy that decides which snapshots are sent"},
		{Key: "sender.rate_hz", Words: "send rate in Hz", Default: 60, Min: 1, Max: 1000},
		{Key: "sender.history", Default: frame.MaxHistory, Min: 1, Max: frame.MaxHistory,
			Unit: "frames", Needs: imperfect},
		{Key: "sender.block", Default: 1200, Min: endpoint.MinBlock, Max: container.MaxPart,
			Unit: "bytes", Needs: filesOnly},
		{Key: "sender.window", Default: 128, Min: 1, Max: container.MaxWindow, Unit: "datagrams",
			Needs: filesOnly},
		// The default is the budget of the walk-off.
		{Key: budgetLineKey, Words: "budget line in kbps", Short: budgetLineKey, Args: "KBPS|off", Label: "Budget line",
			CommandHelp: "a line in the chart of the payload; nothing enforces it", Default: 256, Max: 1_000_000, Unit: "kbps",
			Zero:     off,
			Help:     "a payload rate that is a line in the bandwidth chart. Totals contain the time above it",
			Expected: `kbps such as 256, or "off"`,
			Ladder:   []float64{0, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1000, 2000, 5000, 10_000},
			Field:    func(c *Config) any { return &c.BudgetKbps }},
		{Key: redundancyKey, Words: "redundancy", Short: "redundancy", Args: "POLICY|off", Label: "Repair",
			Policies: container.Redundancies, Zero: off,
			CommandHelp: "redundancy that repairs lost packets", IsShown: (*Config).HasRedundancy,
			Help: "redundancy that repairs lost packets: repeats of the packets before, or parities of groups of packets. " +
				"Each costs bandwidth, also on a link that has none to spare"},
	}
}

// budgetRows returns the settings that shape a budget: of the sender, of a crowd, and the area that
// matters to a client.
func budgetRows() []Row {
	const needs = anyBudget + and + usesWeights + and + usesChanges
	const inArea = anyBudget + and + radiusKey
	return []Row{
		{Key: BudgetKey, Short: "budget", Args: "RATE|off", Label: "Budget",
			CommandHelp: "budget that is enforced: packets contain the rows that fit",
			Help:        "limit of headers and payloads that is enforced: each packet contains the rows of the highest priority that fit",
			Min:         1000, Max: 1e9, quantity: rate, Zero: off, IsShown: hasBudget,
			Ladder: []float64{0, 8_000, 16_000, 24_000, 32_000, 45_000, 64_000, 96_000, 128_000, 192_000, 256_000, 512_000, 1_000_000}},
		{Key: "sender.budget_burst", Short: "budget_burst", Args: "PACKETS", Default: 1, Min: 1, Max: 16,
			Scale: 1000, Unit: "packets", CommandHelp: "packets of the budget that one packet may take",
			Needs: anyBudget},
		{Key: priorityKey, Short: "priority", Args: "POLICY", Policies: view.Policies,
			Default: view.Policies[0].Name, Needs: anyBudget,
			CommandHelp: "which rows go first under a budget"},
		{Key: weightsKey, Short: "weights", Args: "NAME=FACTOR,...|off", Needs: needs,
			CommandHelp: "weights of fields and of groups of rows under a budget, such as position=2, interacting:1=4",
			Expected:    `weights of fields and of groups of rows, such as "x=2, class:tank=0.5", or "off"`,
			Field: func(c *Config) any {
				return parsed[view.Weights]{&c.Sender.Weights, view.ParseWeights, view.Weights.String}
			}},
		{Key: CrowdBudgetKey, Short: "crowd_budget", Args: "RATE|off", Min: 1000, Max: 1e9,
			quantity: rate, Zero: off, CommandHelp: "budget that all clients of a crowd share",
			Needs: "crowd.clients"},
		{Key: radiusKey, Max: 1e6, Needs: needs},
		{Key: interestRowKey, Default: 1, Max: 65_535, Needs: inArea},
		{Key: "interest.point", Expected: `three coordinates such as "0 0 1"`,
			Needs: inArea + and + "interest.row = 0",
			Field: func(c *Config) any { return parsed[[3]float64]{&c.Interest.Point, parsePoint, pointText} }},
		{Key: "interest.falloff", Default: 1, Min: 1, Max: 8, Needs: inArea},
	}
}

// runRows returns the settings of the data and of the run.
func runRows() []Row {
	scripts := []setting.Option{}
	for _, s := range world.Scripts() {
		scripts = append(scripts, setting.Option{Name: s.Name, Summary: s.Summary})
	}
	return []Row{
		{Key: "traffic", Short: "traffic", Args: "N KIND|off", Policies: traffic.Kinds,
			CommandHelp: "other traffic on the downlink, such as 1 cubic or 4 cubic rtt=80ms",
			Expected:    traffic.Expected, Field: func(c *Config) any { return trafficField{&c.Traffic} }},
		{Key: "seed", Short: "seed", Restarts: true, Args: "N",
			CommandHelp: "restart the run with another seed", Default: 7,
			Expected: "a whole number from 0"},
		{Key: "duration", Max: float64(MaxDuration),
			Expected: `a time such as "60s" or "2m"; "0s" means once through a recording, or 60 s of an endless source`},
		{Key: "data.source", Words: "data", Default: "demo",
			Expected: `a data spec such as "demo" or "file:walk.bin.zst"`},
		{Key: "data.script", Default: "random", Options: scripts,
			Needs: "data.source = world"},
		{Key: "data.cubes", Default: frame.WalkoffCubes, Min: 1, Max: 65_535,
			Needs: "data.source = file or data.source = world"},
		{Key: "data.message", Default: messages.DefaultMessage, Min: 1,
			Max: messages.MaxMessage, Unit: "bytes", Needs: "data.source = text"},
		{Key: "data.loop", Default: true, Needs: "duration"},
		{Key: "data.again", Needs: filesOnly},
	}
}

// messageRows returns the settings of [messages].
func messageRows() []Row {
	const burst = "messages.burst"
	return []Row{
		{Key: "messages.rate_hz", Max: 1000, Unit: "messages a second"},
		{Key: "messages.size", Default: "200B", Min: 1, Max: container.MaxMessage, quantity: size,
			Needs: "messages.rate_hz"},
		{Key: burst, Min: 1, Max: container.MaxMessage, quantity: size, Zero: off},
		{Key: "messages.burst_every", Default: "10s", Min: 1e8, Max: float64(time.Hour),
			Needs: burst},
		{Key: "messages.delivery", Policies: container.Deliveries, Default: "resend",
			Needs: hasMessages},
		{Key: "messages.pace", Min: 8000, Max: 1e9, quantity: rate, Zero: off,
			Needs: hasMessages},
		{Key: "messages.lanes", Default: 1, Min: 1, Max: container.MaxLanes, Needs: burst,
			Expected: "1, or 2: large messages have a lane of their own"},
	}
}

// crowdRows returns the settings of [crowd] except the budget.
func crowdRows() []Row {
	const crowd = "crowd.clients"
	const uplink = crowd + and + "crowd.uplink_rate"
	return []Row{
		{Key: crowd, Short: "clients", Args: "N", CommandHelp: "number of receivers of a crowd",
			Max: maxCrowd, Unit: "receivers; 0 means no crowd"},
		{Key: profilesKey, Needs: crowd,
			Expected: `shares of link profiles, such as "unity-4g 30%, unity-cable 70%", or "link"`,
			Field:    func(c *Config) any { return parsed[string]{&c.Crowd.Profiles, normalMix, textOrLink} }},
		{Key: "crowd.rtt", Needs: crowd,
			Field: func(c *Config) any { return spreadField{&c.Crowd.RTT, &times} }},
		{Key: "crowd.jitter", Needs: crowd,
			Field: func(c *Config) any { return spreadField{&c.Crowd.Jitter, &times} }},
		{Key: "crowd.loss", Needs: crowd,
			Field: func(c *Config) any { return spreadField{&c.Crowd.Loss, &shares} }},
		{Key: "crowd.baseline", Default: "newest", Policies: baselines, Needs: crowd},
		{Key: "crowd.uplink_rate", Min: 1, Max: 1e12, quantity: rate, Zero: off, Needs: crowd,
			Field: func(c *Config) any { return &c.Crowd.Uplink.BitsPerSecond }},
		// The maxima of rate and queue keep the time that the queue takes to drain, in nanoseconds, below
		// 2^63.
		{Key: "crowd.uplink_queue", Default: "1MB", Min: 1, Max: 1e9, quantity: size, Needs: uplink,
			Field: func(c *Config) any { return &c.Crowd.Uplink.QueueBytes }},
		{Key: "crowd.uplink_pace", Needs: uplink,
			Field: func(c *Config) any { return &c.Crowd.Uplink.Pace }},
		{Key: "crowd.player_rows", Default: 1, Min: 1, Max: 65_535, Needs: crowd,
			Unit: "rows that belong to players, client n to row n"},
	}
}

// findSetting returns the row with a full key or a short name; nil if none.
func findSetting(key string) *Row { return findRow(Rows(), key) }

// LiveSettings returns the settings that can be changed while a session runs.
func LiveSettings() (live []*Row) {
	for i := range Rows() {
		if r := &Rows()[i]; r.Short != "" {
			live = append(live, r)
		}
	}
	return live
}

// Controls returns the settings that the dashboard shows for c, from the top.
func (c *Config) Controls() []*Row {
	return slices.DeleteFunc(LiveSettings(), func(r *Row) bool {
		isRare := r.IsShown != nil && !r.IsShown(c)
		return r.Label == "" || isRare && r.Text(c) == r.Text(defaultConfig())
	})
}

// lowRate is the rate of snapshots per second up to which the controls of rate and interpolation are shown,
// because interpolation is visible then.
const lowRate = 30

// hasLowRate reports whether at most lowRate snapshots are sent per second.
func hasLowRate(c *Config) bool { return c.Sender.RateHz/c.Sender.Every <= lowRate }
