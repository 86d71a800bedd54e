package tour

import (
	"wirelab/experiment/config"
)

// Spot is a place on the screen that a step of the tour points at.
type Spot uint8

// The places.
const (
	Nowhere Spot = iota
	OnBandwidth
	OnRatio
	OnFailures
	OnPackets
	onWorld
)

// Page is the index of the page on which the place is.
func (s Spot) Page() int {
	if s == onWorld {
		return 3
	}
	return 0
}

// Lighter is a page with places that a step can point at.
type Lighter interface {
	Light(Spot) // Nowhere: no more
}

// lesson is one step of the tour, which shows one idea: a scene, the one thing that
// is changed in it, and what to look at.
type lesson struct {
	name    string
	say     string        // two or three sentences
	scene   config.Change // what is set when the step begins
	then    config.Change // what it changes a moment later
	look    Spot
	tallies []tally // what the change did
}

// cleanLink is a link on which nothing is lost; the steps about encoders use it.
const cleanLink = "unity-cable"

// steps are the seven steps, in the order of the articles: Fiedler's
// "Snapshot Compression" and "State Synchronization", then what came after them.
func steps() []lesson {
	scene := func(encoder string) config.Change {
		return config.NewChange("encoder.name", encoder, "profile", cleanLink)
	}
	// The encoder of before goes on beside the new one, on the very same frames.
	swap := func(from, to string) config.Change {
		return config.NewChange("encoder.name", to, "shadow", []config.Encoder{{Name: from}})
	}
	by := newTallies()
	lossy := scene("adaptive")
	shaky := config.NewChange("encoder.name", "adaptive", "profile", cleanLink, "receiver.playout_delay", "20ms",
		"down.loss", "2%", "down.jitter", "30ms")
	return []lesson{
		{
			name: "Quantise", look: OnBandwidth, scene: scene("raw"), then: swap("raw", "quantized"), tallies: []tally{by.kbps,
				by.packet},
			say: "Sixty times a second all 901 cubes are sent, each as ten floats and a bit: 321 bits. Whole steps of two " +
				"millimetres, and an orientation without its largest component, look the same and take 80. Watch the bandwidth fall " +
				"to a quarter.",
		},
		{
			name: "Delta", look: OnBandwidth, scene: scene("quantized"), then: swap("quantized",
				"changed-bits"), tallies: []tally{by.kbps, by.packet},
			say: "Most cubes lie still, and are sent all the same. From now on a cube is sent only if it differs from a snapshot " +
				"that the receiver has acknowledged: the baseline. Watch what is left: the cubes that move, and one bit for each " +
				"that does not.",
		},
		{
			name: "Index", look: OnRatio, scene: scene("changed-bits"), then: swap("changed-bits",
				"relative-index"), tallies: []tally{by.naming, by.ratio},
			say: "One bit a cube is 901 bits a packet, 54 kbps, even when nothing moves. Few cubes change, and they lie side by " +
				"side: so name each by its distance from the one before. Watch the bits per changed cube.",
		},
		{
			name: "Relative", look: OnRatio, scene: scene("relative-index"), then: swap("relative-index",
				"relative-orientation"), tallies: []tally{by.ratio, by.kbps},
			say: "A cube that moved is still close to where it was. The difference to the baseline is a small number, and small " +
				"numbers take few bits: so send that, for the position and for the orientation. Watch the bits per changed cube again.",
		},
		{
			name: "Entropy", look: OnRatio, scene: scene("relative-orientation"), then: swap("relative-orientation",
				"adaptive"), tallies: []tally{by.ratio, by.kbps},
			say: "A field of six bits takes six bits, however likely its value was. A range coder charges what a value is worth, " +
				"down to a fraction of a bit, by odds that it learns as it goes. Watch the bits per changed cube fall once more.",
		},
		{
			name: "Loss", look: OnPackets, scene: lossy, then: config.NewChange("down.loss", "20%"),
			tallies: []tally{by.lost, by.unread, by.age},
			say: "Now every fifth packet is lost, and nothing is sent twice. Nothing breaks either: each packet refers to a " +
				"snapshot that arrived for certain, so whatever comes can be read. Watch the packets; the price is a baseline that " +
				"now and then is a little older, and so differences that are larger.",
		},
		{
			name: "Playout", look: onWorld, scene: shaky, then: config.NewChange("receiver.playout_delay", "85ms"),
			tallies: []tally{by.starved, by.off},
			say: "Packets come late, early, or not at all, and a screen that shows them as they come stutters. So the receiver " +
				"waits: 85 ms outlast two losses in a row and the jitter. Watch the receiver's side grow smooth; it is later, but steady.",
		},
	}
}
