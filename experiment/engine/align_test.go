package engine

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/quake3/netcode"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
	"wirelab/lossmodel"
)

// tap is a path that keeps a copy of every datagram that is sent.
type tap struct {
	Path
	sent [][]byte
}

func (p *tap) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	p.sent = append(p.sent, slices.Clone(datagram))
	return p.Path.Send(now, datagram, tag)
}

// walk is a source of frames of any schema: a few values of the table take a random step in each frame,
// and the body changes in a few bytes.
type walk struct {
	schema *frame.Schema
	rng    *rand.Rand
	cur    *frame.Frame
}

func newWalk(s *frame.Schema) *walk {
	w := &walk{s, rand.New(rand.NewPCG(5, 5)), s.NewFrame()}
	w.Initial(w.cur)
	return w
}

func (w *walk) Schema() *frame.Schema { return w.schema }

func (w *walk) Initial(f *frame.Frame) {
	for i := range f.Table {
		if fd := w.schema.Fields[i%len(w.schema.Fields)]; fd.Kind.Bounded() {
			f.Table[i] = min(max(0, fd.Min), fd.Max)
		}
	}
	if w.schema.Rows == 0 {
		f.Body = bytes.Repeat([]byte("state of the game "), 8)
	}
}

func (w *walk) Next(f *frame.Frame) error {
	w.cur.Tick++
	for range min(12, len(w.cur.Table)) {
		i := w.rng.IntN(len(w.cur.Table))
		fd := w.schema.Fields[i%len(w.schema.Fields)]
		v := int64(w.cur.Table[i]) + int64(w.rng.IntN(9)) - 4
		if fd.Kind.Bounded() {
			v = min(max(v, int64(fd.Min)), int64(fd.Max))
		}
		w.cur.Table[i] = int32(v)
	}
	if n := len(w.cur.Body); n > 0 {
		w.cur.Body[w.rng.IntN(n)] = byte('a' + w.rng.IntN(26))
	}
	f.CopyFrom(w.cur)
	return nil
}

// sourceFor returns a source that codec c can encode; nil for codecs of files.
func sourceFor(t *testing.T, c *encoders.Codec) dataset.Source {
	t.Helper()
	quake := netcode.NewLayout(71, 5)
	for _, s := range []*frame.Schema{quake.Schema(20), frame.Cubes(20),
		{Name: "call", Item: "call", Rows: 1, TickHz: 60, Fields: []frame.Field{{Name: "speed", Kind: frame.Quantity, Min: -100, Max: 100}, {Name: "fire", Kind: frame.Flag, Max: 1}}},
		{Name: "text", Item: "byte", TickHz: 60, Delivery: frame.Unreliable}, {Name: "packets", Item: "byte", TickHz: 60, Delivery: frame.Unreliable}} {
		switch {
		case !c.Suits(s):
		case frame.IsCubes(s):
			return labtest.NewCubeSource(20, 3, -1, 1)
		default:
			return newWalk(s)
		}
	}
	if c.Suits(&frame.Schema{Name: "files", Item: "byte", Delivery: frame.Reliable}) {
		return nil
	}
	t.Fatalf("no source for encoder %s", c.Name)
	return nil
}

// otherCodec returns the name of another codec for the schema of a source.
func otherCodec(c *encoders.Codec, src dataset.Source) string {
	all := table.All()
	i := slices.IndexFunc(all, func(o encoders.Codec) bool { return o.Name != c.Name && o.Suits(src.Schema()) })
	return all[i].Name
}

// A change that makes the configurations of two lanes equal makes them send equal payloads from the
// first packet on whose baseline was sent after it: for every encoder, on a bad link, whether the active
// encoder or one of its parameters changes or an equal shadow joins.
func TestEqualLanesSendEqualBytes(t *testing.T) {
	for _, c := range table.All() {
		if sourceFor(t, &c) == nil {
			continue // each lane delivers the file once
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			same := config.Encoder{Name: c.Name}
			if strings.HasPrefix(c.Name, "datagram") { // has no defaults without a user's model
				same.Params = map[string]any{"model": "../../encoders/table/testdata/" + c.Name + ".model"}
			}
			twin := config.Encoder{Name: same.Name, Params: same.Params, Own: map[string]string{"control": "off"}}
			other := config.Encoder{Name: otherCodec(&c, sourceFor(t, &c))}
			swap := config.NewChange("encoder.name", c.Name)
			for name, v := range same.Params {
				swap = config.NewChange("encoder.name", c.Name, "encoder.params."+name, v)
			}
			t.Run("swap", func(t *testing.T) {
				s := openBeside(t, &c, other)
				changeAndRun(t, s, config.NewChange("shadow", []config.Encoder{twin}), 3*time.Second)
				compareEqualLanes(t, s, swap)
			})
			t.Run("shadow joins", func(t *testing.T) {
				s := openBeside(t, &c, same)
				compareEqualLanes(t, s, config.NewChange("shadow", []config.Encoder{twin}))
			})
			for _, p := range c.ParamInfo() {
				if p.Min == nil || p.Max == nil || *p.Min == *p.Max {
					continue
				}
				value := any(int(*p.Min))
				if value == p.Default {
					value = int(*p.Max)
				}
				if p.Type == "float" {
					value = *p.Min
				}
				set := config.NewChange("encoder.params."+p.Name, value)
				with := config.Encoder{Name: c.Name, Params: map[string]any{p.Name: value}, Own: twin.Own}
				t.Run(p.Name, func(t *testing.T) {
					s := openBeside(t, &c, same)
					ch := config.NewChange("shadow", []config.Encoder{with})
					if err := s.Change(ch); err != nil {
						t.Skip(err) // not allowed with the defaults of the other parameters
					}
					mustRun(t, s, s.now+3*time.Second)
					compareEqualLanes(t, s, set)
				})
				break // one parameter of each encoder
			}
		})
	}
}

// openBeside opens a session whose active encoder is active, on a bad link and data for codec c, and
// runs it for 2 s.
func openBeside(t *testing.T, c *encoders.Codec, active config.Encoder) *Session {
	t.Helper()
	cfg := badLink(t, config.Default())
	cfg.Encoder = active
	s := mustOpen(t, cfg, sourceFor(t, c), Options{Endless: true, KeepSamples: 100, KeepPackets: 600})
	mustRun(t, s, 2*time.Second)
	return s
}

// compareEqualLanes applies ch, which makes the configurations of the two lanes equal, and demands equal
// payloads from the first packet on whose baseline belongs to the new epoch.
func compareEqualLanes(t *testing.T, s *Session, ch config.Change) {
	t.Helper()
	changeAndRun(t, s, ch, 0)
	var taps [2]*tap
	for i, l := range s.lanes {
		taps[i] = &tap{Path: l.paths.down}
		l.paths.down = taps[i]
	}
	first := s.lanes[0].snd.Seq()
	for len(taps[0].sent) < 150 { // a shadow stores few more, with the copies that the link makes
		mustRun(t, s, s.now+100*time.Millisecond)
	}
	n := len(taps[0].sent)
	if n < 100 || len(taps[1].sent) != n || s.lanes[0].aligning || s.lanes[1].aligning {
		t.Fatalf("%d and %d packets; lanes wait for a common epoch: %v, %v", n, len(taps[1].sent), s.lanes[0].aligning, s.lanes[1].aligning)
	}
	var starts [2]uint64 // first packet of the last epoch
	var payloads [2]map[uint64]string
	baselines := map[uint64]uint64{}
	for i, l := range s.lanes {
		payloads[i] = map[uint64]string{}
		for _, p := range l.log.Last(nil, 600) {
			if p.Copy > 0 || p.Seq < first {
				continue
			}
			datagram := taps[i].sent[p.Seq-first]
			payloads[i][p.Seq] = string(datagram[len(datagram)-p.Payload:])
			if starts[i] == 0 && p.Epoch == l.snd.Epoch() {
				starts[i] = p.Seq
			}
			if i == 0 && p.Baseline > 0 {
				baselines[p.Seq] = p.Seq - uint64(p.Baseline)
			}
		}
	}
	if starts[1] > first && starts[0] != starts[1] || starts[0] > first+60 {
		t.Fatalf("the epochs begin with packets %d and %d, the change came before packet %d", starts[0], starts[1], first)
	}
	compared, begun := 0, false
	for seq := first; seq < first+uint64(n); seq++ {
		begun = begun || baselines[seq] >= starts[0] && baselines[seq] > 0
		if seq < starts[0] || !begun && !s.lanes[0].snd.Encoding().Codec.Standalone {
			continue
		}
		compared++
		if payloads[0][seq] != payloads[1][seq] {
			t.Fatalf("packet %d differs: %d and %d bytes; the epoch began with packet %d", seq, len(payloads[0][seq]), len(payloads[1][seq]), starts[0])
		}
	}
	if compared < 50 {
		t.Errorf("only %d packets were compared", compared)
	}
}
