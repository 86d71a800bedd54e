package lossmodel

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"wirelab/internal/setting"
	"wirelab/lossmodel/netem"
	"wirelab/lossmodel/random"
)

// The netem stage: a line of tc in place of all others. With Spec.Netem on, the line
// alone decides what is lost, doubled, damaged, delayed, reordered and queued. The
// other keys keep their values without effect, and changes to them are refused. mtu
// and checksum stay in force.

const ethernetHeader = 14

// lineUnit is KeyInfo.Unit of a key that takes a line of words.
const lineUnit = "line"

// netemStage decides as the kernel does. A datagram goes through as one packet of
// all its bytes, even if IP cuts it into fragments, which the kernel would treat
// each by itself.
type netemStage struct {
	stream random.Stream // for the bits to damage, which the kernel takes from no seed
	seed   uint64        // for a line without one
	qdisc  *netem.Qdisc
	copy   netem.Packet // what was decided about the present datagram's copy

	latency time.Duration // of the line
	on      bool
}

func newNetemStage(p *stageContext) *netemStage {
	s := p.stream(StageNetem + ".seed")
	return &netemStage{stream: p.stream(StageNetem), seed: s.Next(0)}
}

func (s *netemStage) reshape(spec *Spec) bool {
	s.latency, s.on = spec.Netem.Delay.Latency, spec.Netem.On
	switch {
	case !s.on:
		return false
	case s.qdisc == nil:
		s.qdisc = netem.New(spec.Netem, s.seed)
	default:
		s.qdisc.Change(spec.Netem)
	}
	return true
}

// Apply implements Stage. The copy is decided along with its datagram: in the
// kernel it draws before the datagram's own delay is drawn.
func (s *netemStage) Apply(now time.Duration, size int, f *Fate) {
	word := s.stream.Next(f.Copy)
	if f.Copy > 0 {
		applyDecision(s.copy, now, size, word, f)
		return
	}
	wire := size + udpHeader + (ipHeader+ethernetHeader)*f.Fragments
	d := s.qdisc.Enqueue(int64(now), wire)
	applyDecision(d.Packet, now, size, word, f)
	if d.Doubled {
		f.Copies = append(f.Copies, 0)
		s.copy = d.Copy
	}
}

func (s *netemStage) fork() specStage {
	c := *s
	if s.qdisc != nil {
		c.qdisc = s.qdisc.Clone()
	}
	return &c
}

// gauge counts packets only, since that is what netem's limit counts. Delayed ones
// are among them.
func (s *netemStage) gauge(now time.Duration, g *Gauges) {
	if s.on {
		g.Queue, g.Peak = Queued{Packets: s.qdisc.Waiting(int64(now))}, Queued{Packets: s.qdisc.Peak()}
	}
}

func (s *netemStage) describe(now time.Duration, step *Step) {
	step.Usual, step.Ahead = s.latency, Queued{Packets: s.qdisc.Waiting(int64(now))}
}

// applyDecision makes a decision the packet's fate.
func applyDecision(p netem.Packet, now time.Duration, size int, word uint64, f *Fate) {
	switch p.Outcome {
	case netem.Isolated:
		f.lose(Loss)
	case netem.Burst:
		f.Bad = true
		f.lose(Burst)
	case netem.Full:
		f.lose(Queue)
	default:
		f.Delay = time.Duration(p.Due) - now
	}
	if p.Corrupted && size > 0 {
		f.Corrupt = append(f.Corrupt, int(random.Below(random.Further(word, 0), uint64(size)*8)))
	}
}

func netemRow() stageRow {
	return stageRow{
		name:     StageNetem,
		replaces: true,
		make:     func(p *stageContext) specStage { return newNetemStage(p) },
		keys: []keyRow{{Row: setting.Row[Spec]{
			KeyInfo: KeyInfo{
				Key: "netem", Stage: "netem", Unit: lineUnit,
				Help: `a line of tc's netem, such as "delay 50ms 10ms loss 1% seed 1", decides in place of all stages but mtu and checksum, ` +
					`packet by packet as the kernel does with that seed, its faults included`,
				Source: "tc-netem(8), iproute2 6.15; sch_netem, Linux 6.12",
			},
			Expected: `a line of tc's netem such as "delay 50ms loss 1%", or "off"`,
			Set:      (*Spec).setNetem,
			Get:      func(s *Spec) any { return s.Netem.String() },
			Number: func(s *Spec) float64 {
				if s.Netem.On {
					return 1
				}
				return 0
			},
			Check: (*Spec).checkNetem,
		}}},
	}
}

func (s *Spec) setNetem(value any) error {
	text, ok := value.(string)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return &KeyError{Key: "netem", Value: setting.Show(value), Expected: `a line of tc's netem such as "delay 50ms loss 1%", or "off"`}
	}
	if text == "off" {
		s.Netem = netem.Params{}
		return nil
	}
	params, err := netem.Parse(text)
	if err != nil {
		return netemError(err)
	}
	s.Netem = params
	return nil
}

// netemError turns the error about a line into one about the key.
func netemError(err error) error {
	var e *netem.SyntaxError
	if !errors.As(err, &e) {
		return err
	}
	ke := &KeyError{Key: "netem", Value: e.Got(), Expected: e.Expected}
	if e.Word != "" && len(e.Known) > 0 {
		ke.Value, ke.Known = setting.Show(e.Word), e.Known // the bare word, to suggest a near one
	}
	return ke
}

// checkNetem demands that there is a line that says what the params say.
func (s *Spec) checkNetem() error {
	text := s.Netem.String()
	if !s.Netem.On {
		if s.Netem != (netem.Params{}) {
			return &KeyError{Key: "netem", Value: "parameters that are not on", Expected: "none, or On to be true"}
		}
		return nil
	}
	if back, err := netem.Parse(text); err != nil || back != s.Netem {
		return &KeyError{Key: "netem", Value: setting.Show(text), Expected: "parameters that a line can say: take them from netem.Parse"}
	}
	return nil
}

// replacedByNetem is the part of a spec that a netem line replaces.
func (s Spec) replacedByNetem() Spec {
	s.Netem, s.MTU, s.Corrupt.Checksum = netem.Params{}, 0, false
	return s
}

// refusedByNetem refuses a change that a netem line would keep from having any
// effect.
func (s *Spec) refusedByNetem(changed *Spec, key string, value any) error {
	if !s.Netem.On || !changed.Netem.On || changed.replacedByNetem() == s.replacedByNetem() {
		return nil
	}
	return &KeyError{Key: key, Value: setting.Show(value), Expected: `netem to be "off" first: while it is on, its line decides this`}
}

// Warnings names what the keys do not say: the faults of the kernel that a netem line
// runs into, and the keys that have no effect while it is on. Call it once a change:
// it may take milliseconds.
func (s Spec) Warnings() []string {
	if !s.Netem.On {
		return nil
	}
	var list []string
	for _, w := range s.Netem.Warnings() {
		list = append(list, "netem "+w)
	}
	var waiting []string
	still := DefaultSpec()
	for _, k := range stages().keys {
		text := k.Text(&s)
		if !slices.Contains([]string{"netem", "mtu", "checksum"}, k.Key) && text != k.Text(&still) {
			waiting = append(waiting, fmt.Sprintf("%s %s", k.Key, text))
		}
	}
	if len(waiting) > 0 {
		list = append(list, "netem decides in place of the other stages: "+strings.Join(waiting, ", ")+" will count when it is off")
	}
	return list
}
