package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"wirelab/dataset/frame"
	"wirelab/encoders"
	"wirelab/encoders/drive"
	"wirelab/experiment/config"
	"wirelab/experiment/endpoint"
	"wirelab/internal/quantile"
	"wirelab/internal/wallclock"
)

// Estimate is the cost of an encoder on recent frames of a session.
type Estimate struct {
	Encoder  config.Encoder
	Kbps     float64 // of the payload
	EncodeUS float64 // median time of an encode on this machine, in microseconds
	Err      error   // why the encoder cannot do these frames; nil if it can
}

// Estimates contains the estimates that are finished. All are of the same frames.
type Estimates struct {
	From, Until time.Duration // the frames were sent in this period
	List        []Estimate
	Err         error // why nothing can be estimated; nil if something can
}

// Of returns the estimate of an encoder; nil if it is not finished.
func (e *Estimates) Of(x config.Encoder) *Estimate {
	if e == nil {
		return nil
	}
	i := slices.IndexFunc(e.List, func(done Estimate) bool { return done.Encoder.Equal(x) })
	if i < 0 {
		return nil
	}
	return &e.List[i]
}

// Limits of the frames that encoders are estimated with.
const (
	recentPeriod = 3 * time.Second // the frames of its first third are encoded, but not counted
	minRecent    = 8               // frames
	maxRecent    = 1 << 26         // bytes of all frames
)

// RecentFrames are copies of the newest frames that the first lane has sent. Encoders can encode them
// again, in another goroutine, while the session goes on.
type RecentFrames struct {
	From, Until time.Duration // the counted frames were sent in this period
	frames      []endpoint.SentFrame
	warmUp      int // number of frames that are not counted
	cadence     endpoint.Cadence
	schema      *frame.Schema
	initial     *frame.Frame
	config      *config.Config
}

// RecentFrames returns the frames of the last three seconds. It returns an error if there are not enough, or
// if the packets of the session are no encoded frames.
func (s *Session) RecentFrames() (*RecentFrames, error) {
	snd := s.lanes[0].snd
	if s.isFile {
		return nil, errors.New("a file is sent once; the next transfer shows the size of its patch")
	}
	if server, _ := snd.View(); server != nil {
		return nil, errors.New("with a budget encoders differ in error instead of size; a shadow shows the error")
	}
	size := 1 + 4*s.schema.Cells() + len(s.feed.current.Body)
	list := snd.SentFrames(max(maxRecent/size, minRecent))
	since := s.cadence.SeqAt(max(s.now-recentPeriod, 0))
	oldest, _ := slices.BinarySearchFunc(list, since, func(f endpoint.SentFrame, seq uint64) int { return cmp.Compare(f.Seq, seq) })
	list = list[max(min(oldest, len(list)-3*minRecent), 0):]
	if len(list) < minRecent {
		return nil, errors.New("too few frames were sent yet")
	}
	warmUp := len(list) / 3
	return &RecentFrames{From: s.cadence.SeqTime(list[warmUp].Seq), Until: s.cadence.SeqTime(snd.Seq()),
		frames: list, warmUp: warmUp, cadence: s.cadence, schema: s.schema, initial: s.initial, config: s.config.Clone()}, nil
}

// Estimate encodes the frames with an encoder against the baselines that their packets had, decodes them and
// compares. It calls rest after each frame, and stops with its error.
func (r *RecentFrames) Estimate(x config.Encoder, clock wallclock.Clock, rest func() error) Estimate {
	out := Estimate{Encoder: x}
	pair, err := r.newPair(x)
	if err != nil {
		out.Err = err
		return out
	}
	size := 0
	var encodeUS []float64
	for i := range r.frames {
		start := clock.Now()
		packet, err := pair.encode(i)
		encoded := clock.Now()
		if err == nil {
			err = pair.decode(i, packet)
		}
		if out.Err = errors.Join(err, rest()); out.Err != nil {
			return out
		}
		if i >= r.warmUp {
			size += len(packet)
			encodeUS = append(encodeUS, float64(encoded-start)/1e3)
		}
	}
	out.Kbps = float64(size) * 8 / 1000 / (r.Until - r.From).Seconds()
	out.EncodeUS = quantile.Median(encodeUS)
	return out
}

// recentPair encodes and decodes RecentFrames with one encoder.
type recentPair struct {
	*RecentFrames
	codec            *encoders.Codec
	encoder          encoders.Encoder
	decoder          encoders.Decoder
	sender, receiver drive.End
	packet           []byte
	report           []byte // of the decoder, if that controls the encoder
}

// newPair returns a pair for an encoder. It fails if the encoder cannot encode such frames.
func (r *RecentFrames) newPair(x config.Encoder) (*recentPair, error) {
	codec, params, err := x.Resolve("encoder", r.config.Codecs)
	if err == nil {
		err = r.config.CheckSuits("encoder", codec, r.schema)
	}
	if err != nil {
		return nil, err
	}
	enc, dec, err := encoders.LocateFiles(codec, r.config.ResolvePath).New(r.schema, params)
	newEnd := func() drive.End { return drive.NewEnd(r.schema, r.initial, frame.NewHistory(frame.MaxHistory)) }
	return &recentPair{RecentFrames: r, codec: codec, encoder: enc, decoder: dec, sender: newEnd(), receiver: newEnd()}, err
}

// epoch is the epoch of all frames of a recentPair.
const epoch = 0

// refs returns the references of frame i at one end. The first frame takes the place of a baseline that is older.
func (p *recentPair) refs(e *drive.End, i int) []encoders.Ref {
	sent := &p.frames[i]
	if i == 0 || sent.Baseline == 0 {
		return e.Initial(p.cadence.InitialTick(sent.Seq))
	}
	base := e.History.Get(sent.Seq - sent.Baseline)
	if base == nil {
		base = e.History.Get(p.frames[0].Seq)
	}
	second := e.History.Get(sent.Seq - sent.Second)
	if p.codec.Refs < 2 || sent.Second == 0 || second == nil {
		return e.Refs(epoch, base)
	}
	return e.Refs(epoch, base, second)
}

// encode returns the packet of frame i, which is valid until the next call.
func (p *recentPair) encode(i int) (packet []byte, err error) {
	sent := &p.frames[i]
	refs := p.refs(&p.sender, i)
	entry := p.sender.Put(sent.Seq, epoch)
	entry.Copy(sent.Frame)
	p.packet, err = p.sender.Encode(p.encoder, p.packet[:0], entry, refs, nil) // nil: no bit budget is kept
	return p.packet, err
}

// decode decodes the packet of frame i, and returns an error if the decoded frame is not the one encoded.
func (p *recentPair) decode(i int, packet []byte) error {
	sent := &p.frames[i]
	memo, err := p.receiver.Decode(p.decoder, sent.Frame.Tick, epoch, packet, p.refs(&p.receiver, i))
	if err != nil {
		return fmt.Errorf("packet %d cannot be decoded: %w", sent.Seq, err)
	}
	entry := p.receiver.StoreDecoded(sent.Seq, epoch, memo)
	if !entry.Frame.Equal(&p.sender.History.Get(sent.Seq).Frame) {
		return fmt.Errorf("packet %d was decoded wrongly", sent.Seq)
	}
	decoder, ok := p.decoder.(encoders.Feedback)
	if !ok {
		return nil
	}
	p.report = decoder.Report(p.report[:0])
	return p.encoder.(encoders.Feedback).Learn(p.report)
}
