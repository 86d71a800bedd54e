package engine

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/experiment/config"
	"wirelab/experiment/figures"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/testkit"
	"wirelab/lossmodel"
)

// chained is a test codec that checks memos and ticks. Its memo is a hash of the frame and of the
// baseline's memo. Each packet contains the memos and the ticks of all frames that the encoder was
// given, and the decoder rejects a packet if its own differ. A memo that is lost, swapped or
// overwritten while in use thus counts as decode_refused, and a memo of another codec panics.
type chained struct {
	schema *frame.Schema
	id     uint8
	learnt uint32 // reports that the encoder received
	count  uint32 // frames decoded
}

// link is chained's memo.
type link struct {
	id  uint8
	sum [sha256.Size]byte
}

func chainedCodec(id uint8, refs int) encoders.Codec {
	return encoders.Codec{
		ID: id, Name: fmt.Sprintf("chained-%d", id), Refs: refs, Suits: frame.IsCubes,
		New: func(s *frame.Schema, _ any) (encoders.Encoder, encoders.Decoder, error) {
			return &chained{schema: s, id: id}, &chained{schema: s, id: id}, nil
		},
	}
}

func (c *chained) memoHash(m encoders.Memo) [sha256.Size]byte {
	if m == nil {
		return [sha256.Size]byte{}
	}
	l := m.(*link)
	if l.id != c.id {
		panic("a memo of another codec")
	}
	return l.sum
}

func (c *chained) newMemo(f *frame.Frame, refs []encoders.Ref, spare encoders.Memo) encoders.Memo {
	l, ok := spare.(*link)
	if !ok {
		l = &link{id: c.id}
	}
	h := sha256.New()
	for _, v := range f.Table {
		_ = binary.Write(h, binary.LittleEndian, v)
	}
	for _, r := range refs {
		sum := c.memoHash(r.Memo)
		h.Write(sum[:])
	}
	h.Sum(l.sum[:0])
	return l
}

func (c *chained) Encode(dst []byte, cur *frame.Frame, refs []encoders.Ref, spare encoders.Memo,
	budget *encoders.Budget) ([]byte, encoders.Memo, error) {
	start, before := len(dst), budget.Total()
	dst = append(dst, byte(len(refs)))
	for _, r := range refs {
		sum := c.memoHash(r.Memo)
		dst = append(dst, sum[:]...)
	}
	dst = append(dst, encodeTicks(cur, refs)...)
	for i, v := range cur.Table {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(v-refs[len(refs)-1].Frame.Table[i]))
	}
	budget.Close(before, len(dst)-start)
	return dst, c.newMemo(cur, refs, spare), nil
}

func (c *chained) Decode(dst *frame.Frame, src []byte, refs []encoders.Ref, spare encoders.Memo) (encoders.Memo, error) {
	if want := 1 + len(refs)*(sha256.Size+4) + 4 + 4*len(dst.Table); len(src) != want || int(src[0]) != len(refs) {
		return nil, fmt.Errorf("%w: %d bytes for %d references", encoders.ErrCorrupt, len(src), len(refs))
	}
	src = src[1:]
	for i, r := range refs {
		sum := c.memoHash(r.Memo)
		if !bytes.Equal(sum[:], src[:sha256.Size]) {
			return nil, fmt.Errorf("%w: not the memo of reference %d", encoders.ErrCorrupt, i)
		}
		src = src[sha256.Size:]
	}
	same := encodeTicks(dst, refs)
	if !bytes.HasPrefix(src, same) {
		return nil, fmt.Errorf("%w: ticks % x, the encoder's were % x", encoders.ErrCorrupt, same, src[:len(same)])
	}
	src = src[len(same):]
	dst.Tick = refs[0].Frame.Tick // like decoders that begin with a copy of their reference
	for i := range dst.Table {
		dst.Table[i] = int32(binary.LittleEndian.Uint32(src[4*i:])) + refs[len(refs)-1].Frame.Table[i]
	}
	c.count++
	return c.newMemo(dst, refs, spare), nil
}

// encodeTicks returns the ticks of the frame and of its references.
func encodeTicks(f *frame.Frame, refs []encoders.Ref) []byte {
	at := binary.LittleEndian.AppendUint32(nil, f.Tick)
	for _, r := range refs {
		at = binary.LittleEndian.AppendUint32(at, r.Frame.Tick)
	}
	return at
}

func (c *chained) Report(dst []byte) []byte { return binary.LittleEndian.AppendUint32(dst, c.count) }

func (c *chained) Learn(report []byte) error {
	if len(report) != 4 {
		return encoders.ErrCorrupt
	}
	c.learnt = max(c.learnt, binary.LittleEndian.Uint32(report))
	return nil
}

// withChainedCodecs adds three chained codecs to the table of c. One of them takes two
// references.
func withChainedCodecs(c *config.Config) *config.Config {
	c.Codecs = append(labtest.CubeCodecs(), chainedCodec(120, 1), chainedCodec(121, 1), chainedCodec(122, 2))
	return c
}

// Encoder and decoder have the same memos after losses, copies, reordering and swaps: the chained
// codecs decode a packet only with the memos with which it was encoded.
func TestMemosAgree(t *testing.T) {
	for seed := range uint64(8) {
		c := withChainedCodecs(config.Default())
		c.Seed, c.Sender.History, c.Receiver.History, c.Sender.RateHz = seed, 60, 80, 60/(1+int(seed%3))
		testkit.Set(t, c, "link.loss", "15%", "link.latency", "60ms", "link.jitter", "40ms", "down.duplicate", "10%",
			"down.reorder", "10%")
		s := mustOpen(t, c, labtest.NewCubeSource(5, 3, -1, seed), Options{})
		names := []string{"chained-120", "chained-121", "chained-122", "quantized"}
		learnt := uint32(0)
		for i := range 80 {
			mustChange(t, s, config.NewChange("encoder.name", names[(uint64(i)*7+seed)%4]))
			mustRun(t, s, s.now+time.Duration(100+37*i%400)*time.Millisecond)
			if x, ok := s.lanes[0].snd.Encoding().Encoder.(*chained); ok {
				learnt += x.learnt
			}
		}
		checkOutcomes(t, s)
		got := s.lanes[0].totals(s.Now())
		if got.Wrong != 0 || got.DecodeRefused != 0 {
			t.Errorf("seed %d: %d wrong, %d refused: %v", seed, got.Wrong, got.DecodeRefused, s.lanes[0].lastErr)
		}
		if learnt == 0 || got.Decoded < int64(500*c.Sender.RateHz/90) {
			t.Errorf("seed %d: feedback of %d, %d decoded: little was tested", seed, learnt, got.Decoded)
		}
	}
}

// The endpoints recover from an outage during which any number of epochs begin.
func TestEpochsRecoverAfterOutage(t *testing.T) {
	for _, swaps := range testkit.Choose([]int{1, 7, 9, 100, 127, 128, 160, 247, 255, 256, 257, 300}, []int{1, 9, 128, 256}) {
		c := withChainedCodecs(config.Default())
		s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 1), Options{KeepSamples: 10, Endless: true})
		run := func(d time.Duration, changes ...config.Change) {
			t.Helper()
			for _, ch := range changes {
				mustChange(t, s, ch)
			}
			mustRun(t, s, s.now+d)
		}
		run(3*time.Second, config.NewChange("encoder.name", "chained-120"))
		run(time.Second, config.NewChange("down.loss", "100%"))
		for i := range swaps {
			run(130*time.Millisecond, config.NewChange("encoder.name", fmt.Sprintf("chained-%d", 120+(i+swaps)%2)))
		}
		before := s.lanes[0].totals(s.Now())
		last := captureDatagrams(s.lanes[0])
		run(20*time.Second, config.NewChange("down.loss", "0%"))
		got := s.lanes[0].totals(s.Now())
		if n := got.Decoded - before.Decoded; n < 1150 || got.Wrong != 0 || got.DecodeRefused != 0 {
			t.Errorf("%d epochs missed: %d of 1200 decoded, %d wrong, %d refused, %+v", swaps, n, got.Wrong, got.DecodeRefused,
				got.Failures)
		}
		if (*last)[3]&0x80 != 0 {
			t.Errorf("%d epochs missed: 20 s later params still travel", swaps)
		}
	}
}

// A copy that arrives after its packet has left a short history is a duplicate, not a failure.
func TestLateCopiesAreDuplicates(t *testing.T) {
	c := config.Default()
	c.Receiver.History, c.Receiver.Playout = 5, 0
	testkit.Set(t, c, "down.duplicate", "100%", "down.duplicate_delay", "200ms")
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 1), Options{})
	mustRun(t, s, 10*time.Second)
	got := s.lanes[0].totals(s.Now())
	if got.Failures != (figures.Failures{}) || got.Duplicate < 580 {
		t.Errorf("%d duplicates of %d copies, failures %+v", got.Duplicate, got.Duplicated, got.Failures)
	}
}

// A scripted change that another change made impossible is reported as refused, and the session
// continues.
func TestConflictingScriptIsRefused(t *testing.T) {
	c := config.Default()
	c.At = []config.StampedChange{config.Stamp(2*time.Second, config.NewChange("encoder.params.xy_small", int64(5)))}
	s := mustOpen(t, c, labtest.NewCubeSource(3, 1, -1, 1), Options{})
	mustChange(t, s, config.NewChange("encoder.name", "raw"))
	mustRun(t, s, 5*time.Second)
	if len(s.refused) != 1 || s.config.Encoder.Name != "raw" || s.lanes[0].snd.Encoding().Codec.Name != "raw" {
		t.Errorf("refused %v; the configuration has %s, the sender %s", s.refused, s.config.Encoder.Name,
			s.lanes[0].snd.Encoding().Codec.Name)
	}
}

// A session has no first datagram from which the times of a script could count.
func TestFromFirstDatagramIsRefused(t *testing.T) {
	c := config.Default()
	c.At = []config.StampedChange{config.Stamp(0, config.NewChange("loss", "5%"))}
	c.At[0].FromFirstDatagram = true
	if _, err := NewSessionFromSource(c, labtest.NewCubeSource(3, 1, -1, 1), Options{}); err == nil || !strings.Contains(err.Error(), "at[0].from: only a proxy") {
		t.Errorf("%v, want a refusal", err)
	}
}

// Scripted changes are checked and applied in the order of their times, not in that of the file.
func TestScriptIsSortedByTime(t *testing.T) {
	ok := "[[at]]\nt = \"20s\"\nparams.xy_small = 5\n[[at]]\nt = \"10s\"\nencoder = \"rotor\"\n[encoder]\nname = \"raw\""
	if _, err := config.Parse("ok", []byte(ok)); err != nil {
		t.Errorf("in order of time this is fine: %v", err)
	}
	bad := "[[at]]\nt = \"20s\"\nencoder = \"rotor\"\n[[at]]\nt = \"10s\"\nparams.xy_small = 5\n[encoder]\nname = \"raw\""
	if _, err := config.Parse("bad", []byte(bad)); err == nil {
		t.Error("raw has no parameters at 10 s, but there was no error")
	}
}

// recordingPath is a path that stores the datagram sent last.
type recordingPath struct {
	Path
	last []byte
}

func (p *recordingPath) Send(now time.Duration, datagram []byte, tag uint64) lossmodel.Verdict {
	p.last = append(p.last[:0], datagram...)
	return p.Path.Send(now, datagram, tag)
}

// captureDatagrams makes l store the newest datagram of its sender, and returns a pointer to it.
func captureDatagrams(l *lane) *[]byte {
	p := &recordingPath{Path: l.paths.down}
	l.paths.down = p
	return &p.last
}

// Endpoints handle any bytes from a peer without a panic, and the session continues. Frames are not
// compared: bytes that reach a receiver although they were changed may decode to a wrong frame. In runs
// they do not reach it, because a lane discards a damaged datagram before: TestNoWrongFrames asserts
// that no frame is wrong on links that damage datagrams, and TestFailuresAddUp that damaged packets
// count as corrupt.
func FuzzEndpoints(f *testing.F) {
	f.Add([]byte{5, 1, 2, 3, 4, 5, 7, 1, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, script []byte) {
		c := withChainedCodecs(config.Default())
		s := mustOpen(t, c, labtest.NewCubeSource(2, 1, -1, 1), Options{Endless: true})
		l := s.lanes[0]
		last := captureDatagrams(l)
		for len(script) > 0 {
			n := min(int(script[0]&0x3f), len(script)-1)
			datagram := bytes.Clone(script[1 : 1+n])
			switch script[0] >> 6 {
			case 0:
				l.rcv.Receive(datagram)
			case 1:
				_ = l.snd.HandleAck(datagram)
			default: // a real packet with some bytes replaced
				mustRun(t, s, s.NextFrame())
				real := bytes.Clone(*last)
				for i := 0; i+1 < len(datagram); i += 2 {
					real[int(datagram[i])%len(real)] ^= datagram[i+1]
				}
				l.rcv.Receive(real)
			}
			script = script[1+n:]
		}
		mustRun(t, s, s.now+time.Second)
	})
}
