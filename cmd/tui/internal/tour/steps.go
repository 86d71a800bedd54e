package tour

import (
	"wirelab/experiment/config"
)

// Spot is a part of the screen that a step of the tour highlights.
type Spot uint8

// The spots.
const (
	Nowhere Spot = iota
	OnBandwidth
	OnRatio
	OnFailures
	OnPackets
	onWorld
	onTransport
)

// Page returns the name of the page with the spot.
func (s Spot) Page() string {
	switch s {
	case onWorld:
		return "World"
	case onTransport:
		return "Flow"
	}
	return "Live"
}

// Lighter is a pane with spots.
type Lighter interface {
	// Light highlights a spot, and reports whether the pane has it; Nowhere clears the highlight.
	Light(Spot) bool
}

// step is one step of the tour, which explains one idea.
type step struct {
	name    string
	text    string        // two to four sentences
	scene   config.Change // settings at the beginning of the step
	change  config.Change // applied sceneTime later
	later   config.Change // applied laterTime after change; zero in most steps
	spot    Spot
	figures []figure // by which the effect is shown
}

// cleanLink is the profile of a link without loss, for the steps about encoders.
const cleanLink = "unity-cable"

// Names returns the names of the steps.
func Names() (names []string) {
	for _, s := range steps() {
		names = append(names, s.name)
	}
	return names
}

// steps returns the eight steps, in the order of Fiedler's articles "Snapshot Compression" and "State
// Synchronization", followed by entropy coding, loss, playout and the send rate.
func steps() []step {
	scene := func(encoder string) config.Change {
		return config.NewChange("encoder.name", encoder, "profile", cleanLink)
	}
	// The previous encoder continues as a shadow, on the same frames.
	swap := func(from, to string) config.Change {
		return config.NewChange("encoder.name", to, "shadow", []config.Encoder{{Name: from}})
	}
	figs := newFigures()
	lossScene := scene("adaptive")
	jitterScene := config.NewChange("encoder.name", "adaptive", "profile", cleanLink, "receiver.playout_delay", "20ms",
		"down.loss", "2%", "down.jitter", "30ms")
	hiccupScene := config.NewChange("encoder.name", "relative-index", "profile", cleanLink, "link.latency", "25ms", "down.rate", "500kbit",
		"down.queue", "256KB", "sender.control", "fixed", "shadow", []config.Encoder{{Name: "relative-index", Own: map[string]string{"control": "ack-clock"}}})
	return []step{
		{
			name: "Quantise", spot: OnBandwidth, scene: scene("raw"), change: swap("raw", "quantized"), figures: []figure{figs.kbps,
				figs.packet},
			text: "All 901 cubes are sent 60 times per second, each as ten floats and one bit: 321 bits. Positions in steps of " +
				"2 mm and orientations as the smallest three components look the same and take 80 bits. Watch the bandwidth fall " +
				"to a quarter.",
		},
		{
			name: "Delta", spot: OnBandwidth, scene: scene("quantized"), change: swap("quantized",
				"changed-bits"), figures: []figure{figs.kbps, figs.packet},
			text: "Most cubes are at rest, but are sent in every packet. With delta compression a cube is sent only if it differs " +
				"from the baseline, a snapshot that the receiver has acknowledged. Watch the rest: the moving cubes, and one bit " +
				"for each cube that does not move.",
		},
		{
			name: "Index", spot: OnRatio, scene: scene("changed-bits"), change: swap("changed-bits",
				"relative-index"), figures: []figure{figs.indexBits, figs.ratio},
			text: "One bit per cube is 901 bits per packet, 54 kbps, even when nothing moves. Few cubes change, and changed cubes " +
				"are often neighbours: so send the distance from the previous index. Watch the bits per changed cube.",
		},
		{
			name: "Relative", spot: OnRatio, scene: scene("relative-index"), change: swap("relative-index",
				"relative-orientation"), figures: []figure{figs.ratio, figs.kbps},
			text: "A cube that moved is still close to its baseline. The difference is a small number, which takes few bits. " +
				"This encoder sends the differences of position and orientation. Watch the bits per changed cube again.",
		},
		{
			name: "Entropy", spot: OnRatio, scene: scene("relative-orientation"), change: swap("relative-orientation",
				"adaptive"), figures: []figure{figs.ratio, figs.kbps},
			text: "A field of six bits takes six bits, however probable its value is. A range coder spends -log2(p) bits on a " +
				"value of probability p, which it learns from earlier values. Watch the bits per changed cube fall again.",
		},
		{
			name: "Loss", spot: OnPackets, scene: lossScene, change: config.NewChange("down.loss", "20%"),
			figures: []figure{figs.lost, figs.failed, figs.age},
			text: "Now 20 % of the packets are lost, and none is retransmitted. Every packet that arrives can still be decoded, " +
				"because its baseline is a snapshot that the receiver has acknowledged. Watch the packets: the cost of loss is an " +
				"older baseline and so larger differences.",
		},
		{
			name: "Playout", spot: onWorld, scene: jitterScene, change: config.NewChange("receiver.playout_delay", "85ms"),
			figures: []figure{figs.starved, figs.positionError},
			text: "Packets arrive with jitter, or not at all, and a display that shows them on arrival stutters. A playout delay " +
				"of 85 ms covers two consecutive losses and the jitter. Watch the receiver's side become smooth, at the cost of delay.",
		},
		{
			name: "Send rate", spot: onTransport, scene: hiccupScene, change: config.NewChange("down.rate", "50kbit"),
			later: config.NewChange("down.rate", "500kbit"), figures: []figure{figs.age, figs.lost},
			text: "The link falls to 50 kbit/s for two seconds. A queue makes acks late, late acks make baselines older, and older baselines " +
				"make snapshots larger, which keep the queue full after the link is good again. The shadow, with ack-clock, holds snapshots " +
				"back while acks are late. Watch its round trip fall, and that of the active encoder stay.",
		},
	}
}
