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

// The netem stage replaces all other stages. While Spec.Netem is on, its line alone decides about
// loss, duplication, damage, delay, reordering and queueing. The other keys keep their values
// without effect, and changes to them are refused. The key mtu remains effective.

// ethernetHeader is the size of an Ethernet header, which netem counts for each packet.
const ethernetHeader = 14

// lineUnit is KeyInfo.Unit of keys whose value is a line of words.
const lineUnit = "line"

// netemStage applies a netem line as the kernel does. A datagram is one packet even if IP
// fragments it; the kernel would treat the fragments separately.
type netemStage struct {
	stream     random.Stream // draws the positions of flipped bits, which the kernel does not seed
	seed       uint64        // seed of lines that contain none
	qdisc      *netem.Qdisc
	copyPacket netem.Packet // decision about the copy of the current datagram

	latency time.Duration // latency in the line, which trails report
	on      bool
}

// newNetemStage returns a stage that is off until reshape.
func newNetemStage(context *stageContext) *netemStage {
	seeds := context.stream(StageNetem + ".seed")
	return &netemStage{stream: context.stream(StageNetem), seed: seeds.Next(0)}
}

// reshape implements specStage. The state of the queueing discipline is kept, also while the
// stage is off.
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

// Apply implements Stage. It decides about the copy of a datagram together with the datagram, because in
// the kernel the random numbers of the copy are drawn before the delay of the datagram. The decision about the
// copy is stored in s.copyPacket for the later call that is about the copy.
func (s *netemStage) Apply(now time.Duration, size int, f *Fate) {
	word := s.stream.Next(f.Copy)
	if f.Copy > 0 {
		applyDecision(s.copyPacket, now, size, word, f)
		return
	}
	wire := size + udpHeader + (ipHeader+ethernetHeader)*f.Fragments
	d := s.qdisc.Enqueue(int64(now), wire)
	applyDecision(d.Packet, now, size, word, f)
	if d.Duplicated {
		f.Copies = append(f.Copies, 0) // the copy has no extra delay; the second Apply, for the copy, uses copyPacket
		s.copyPacket = d.Copy
	}
}

// fork implements specStage. The copy decides about later packets as the original does.
func (s *netemStage) fork() specStage {
	c := *s
	if s.qdisc != nil {
		c.qdisc = s.qdisc.Clone()
	}
	return &c
}

// gauge sets the queue and its maximum in packets; bytes stay 0, because netem's limit counts
// packets. Packets that are being delayed are included.
func (s *netemStage) gauge(now time.Duration, g *Gauges) {
	if s.on {
		g.Queue, g.Peak = QueueLength{Packets: s.qdisc.Waiting(int64(now))}, QueueLength{Packets: s.qdisc.Peak()}
	}
}

// describe reports the latency of the line and the waiting packets.
func (s *netemStage) describe(now time.Duration, step *Step) {
	step.BaseDelay, step.QueueAhead = s.latency, QueueLength{Packets: s.qdisc.Waiting(int64(now))}
}

// applyDecision stores netem's decision about a packet that was sent at now in f: the cause of loss
// or the delay, and the position of the bit that is flipped if the packet is corrupted. The
// position is drawn from word, and size is the payload in bytes.
func applyDecision(p netem.Packet, now time.Duration, size int, word uint64, f *Fate) {
	switch p.Outcome {
	case netem.Isolated:
		f.markLost(Loss)
	case netem.Burst:
		f.Bad = true
		f.markLost(Burst)
	case netem.Full:
		f.markLost(Queue)
	default:
		f.Delay = time.Duration(p.Due) - now
	}
	if p.Corrupted && size > 0 {
		f.Corrupt = append(f.Corrupt, int(random.Below(random.DeriveWord(word, 0), uint64(size)*8)))
	}
}

// netemRow describes the netem stage, which replaces all others while it is on, and its key.
func netemRow() stageRow {
	return stageRow{
		name:     StageNetem,
		replaces: true,
		newStage: func(context *stageContext) specStage { return newNetemStage(context) },
		keys: []keyRow{{Row: setting.Row[Spec]{
			KeyInfo: KeyInfo{
				Key: "netem", Stage: "netem", Unit: lineUnit,
				Help: `a line of tc's netem, such as "delay 50ms 10ms loss 1% seed 1", that replaces all stages except mtu; ` +
					`it decides packet by packet as the kernel does with that seed, including its bugs`,
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

// setNetem sets the key netem to a line or "off".
func (s *Spec) setNetem(value any) error {
	text, ok := value.(string)
	text = strings.TrimSpace(text)
	if !ok || text == "" {
		return &KeyError{Key: "netem", Value: setting.FormatValue(value), Expected: `a line of tc's netem such as "delay 50ms loss 1%", or "off"`}
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

// netemError converts a *netem.SyntaxError to a *KeyError and returns other errors unchanged.
func netemError(err error) error {
	var syntax *netem.SyntaxError
	if !errors.As(err, &syntax) {
		return err
	}
	keyError := &KeyError{Key: "netem", Value: syntax.Got(), Expected: syntax.Expected}
	if syntax.Word != "" && len(syntax.Known) > 0 {
		keyError.Value, keyError.Known = setting.FormatValue(syntax.Word), syntax.Known // the word alone, so that a similar word can be suggested
	}
	return keyError
}

// checkNetem checks that the parameters can be written as a line, because reports store the line. A
// Spec that was built by hand may have others.
func (s *Spec) checkNetem() error {
	text := s.Netem.String()
	if !s.Netem.On {
		if s.Netem != (netem.Params{}) {
			return &KeyError{Key: "netem", Value: "parameters without On", Expected: "no parameters, or On set"}
		}
		return nil
	}
	if parsed, err := netem.Parse(text); err != nil || parsed != s.Netem {
		return &KeyError{Key: "netem", Value: setting.FormatValue(text),
			Expected: "parameters that a line can express: use netem.Parse"}
	}
	return nil
}

// replacedByNetem returns s with the settings that a netem line does not replace reset, so that two
// results are equal if the replaced settings are.
func (s Spec) replacedByNetem() Spec {
	s.Netem, s.MTU = netem.Params{}, 0
	return s
}

// refusedByNetem returns a *KeyError if a netem line is on in s and changed differs from s in settings that
// the line replaces; nil otherwise. key and value are what the user set.
func (s *Spec) refusedByNetem(changed *Spec, key string, value any) error {
	if !s.Netem.On || changed.replacedByNetem() == s.replacedByNetem() {
		return nil
	}
	return &KeyError{Key: key, Value: setting.FormatValue(value),
		Expected: `netem to be "off" first: while it is on, it replaces this key`}
}

// Warnings lists kernel bugs that affect the netem line, and keys that have no effect. It may take milliseconds, so
// call it only after a change.
func (s Spec) Warnings() []string {
	list := s.NetemWarnings()
	defaults := DefaultSpec()
	value := func(key string) (text, standard string) {
		text, _ = s.Get(key)
		standard, _ = defaults.Get(key)
		return text, standard
	}
	for _, k := range stages().keys {
		if need := setting.Unmet(k.Needs, value); need != "" && !s.Netem.On && k.Text(&s) != k.Default {
			list = append(list, k.Key+": has no effect; expected "+need)
		}
	}
	return list
}

// NetemWarnings lists kernel bugs that affect the netem line, and keys that it replaces.
func (s Spec) NetemWarnings() []string {
	if !s.Netem.On {
		return nil
	}
	var list []string
	for _, w := range s.Netem.Warnings() {
		list = append(list, "netem "+w)
	}
	var inactive []string
	defaults := DefaultSpec()
	for _, k := range stages().keys {
		text := k.Text(&s)
		if !slices.Contains([]string{"netem", "mtu"}, k.Key) && text != k.Text(&defaults) {
			inactive = append(inactive, fmt.Sprintf("%s %s", k.Key, text))
		}
	}
	if len(inactive) > 0 {
		list = append(list, fmt.Sprintf("netem replaces the other stages: %s will take effect when it is off",
			strings.Join(inactive, ", ")))
	}
	return list
}
