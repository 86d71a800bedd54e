package engine

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/internal/labtest"
)

// brittle is an encoder that breaks its contract after some packets, in the encoder or in the
// decoder.
type brittle struct {
	encoders.Encoder
	encoders.Decoder
	left int
}

func (b *brittle) countDown() error {
	if b.left--; b.left < 0 {
		return fmt.Errorf("plugin brittle: %w: it fell", encoders.ErrBroken)
	}
	return nil
}

func (b *brittle) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, m encoders.Memo, a *encoders.Budget) ([]byte, encoders.Memo, error) {
	if err := b.countDown(); err != nil {
		return dst, nil, err
	}
	return b.Encoder.Encode(dst, cur, refs, m, a)
}

func (b *brittle) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, m encoders.Memo) (encoders.Memo, error) {
	if err := b.countDown(); err != nil {
		return nil, errors.Join(encoders.ErrCorrupt, err)
	}
	return b.Decoder.Decode(dst, src, refs, m)
}

// brittleSession returns a session in which rotor is a plugin that breaks at one endpoint after the
// given number of packets.
func brittleSession(t *testing.T, script []config.StampedChange, left [2]int) *Session {
	t.Helper()
	c := config.Default()
	c.Codecs = labtest.CubeCodecs()
	for i := range c.Codecs {
		if c.Codecs[i].Name != "rotor" {
			continue
		}
		whole := c.Codecs[i].New
		c.Codecs[i].Plugin = &encoders.Plugin{Runtime: "process"}
		c.Codecs[i].New = func(s *frame.Schema, params any) (encoders.Encoder, encoders.Decoder, error) {
			e, d, err := whole(s, params)
			return &brittle{e, d, left[0]}, &brittle{e, d, left[1]}, err
		}
	}
	if err := c.Set("encoder", "changed-index"); err != nil {
		t.Fatal(err)
	}
	c.Duration, c.At = 5*time.Second, script
	s := mustOpen(t, c, labtest.NewCubeSource(40, 6, -1, 4), Options{})
	return s
}

// Timing.RunsAs is reported as long as the times include those of the plugin.
func TestTimesAfterFallback(t *testing.T) {
	s := brittleSession(t, []config.StampedChange{config.Stamp(time.Second, config.NewChange("encoder", "rotor"))}, [2]int{40, 1 << 30})
	for _, c := range []struct {
		at          time.Duration
		recent, all string
	}{{900 * time.Millisecond, "", ""}, {1500 * time.Millisecond, "process", "process"}, {3 * time.Second, "process", "process"}, {4 * time.Second, "", "process"}} {
		mustRun(t, s, c.at)
		l := s.lanes[0].view(s.Now(), 1)
		if l.Recent.RunsAs != c.recent || l.Timing.RunsAs != c.all {
			t.Errorf("%v: recent times are of %q, all of %q; want %q and %q", c.at, l.Recent.RunsAs, l.Timing.RunsAs, c.recent, c.all)
		}
	}
}

// A plugin encoder that breaks its contract is replaced by the encoder before it, whether its
// encoder or its decoder broke. The session continues without wrong frames, and a replay of its
// changes gives the same digest.
func TestBrokenEncoderIsReplaced(t *testing.T) {
	for name, left := range map[string][2]int{"encoder": {40, 1 << 30}, "decoder": {1 << 30, 40}} {
		run := func(script []config.StampedChange) *Result {
			s := brittleSession(t, script, left)
			mustRun(t, s, 3*time.Second)
			return s.Result()
		}
		r := run([]config.StampedChange{config.Stamp(time.Second, config.NewChange("encoder", "rotor"))})
		x := &r.Totals
		if len(r.Changes) != 2 || r.Changes[1].Change.Mark() != "rotor broke: back to changed-index" {
			t.Fatalf("%s: changes %+v", name, r.Changes)
		}
		if bad := x.Sent - x.Decoded - x.InFlight; x.Wrong != 0 || bad > 10 || x.Sent < 170 {
			t.Errorf("%s: of %d sent %d decoded: %+v", name, x.Sent, x.Decoded, x)
		}
		if again := run(r.Changes); again.Digest != r.Digest || len(again.Changes) != 2 {
			t.Errorf("%s: another digest when it is replayed, with %d changes", name, len(again.Changes))
		}
	}
}
