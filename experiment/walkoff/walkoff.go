package walkoff

import (
	"context"
	"errors"
	"fmt"
	"io"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/table"
	"wirelab/encoders"
	"wirelab/internal/wallclock"
)

// errRules says that data cannot be scored: they are neither cubes nor a table, or
// too short.
var errRules = errors.New("not data for a walk-off")

// Open opens the recording at its beginning. Run calls it once for every encoder, so
// that memory does not grow with the recording.
type Open func() (dataset.Source, error)

// Options configure a walk-off.
type Options struct {
	// Frames is how many frames of the recording are scored, including frames 0..5.
	// 0 means all; then the source must end.
	Frames int
	// Back is where the baseline of each frame lies; 0 means Delay, as in the rules. Only these
	// rules can be audited.
	Back Back
	// Audit makes the processes of the audit; nil: no audit.
	Audit processCommand
	// Clock times the encoders. It must be monotonic.
	Clock wallclock.Clock
	// Progress is called with the number of finished frames and of all frames, over
	// all encoders; it may be nil.
	Progress func(done, total float64)
}

// backOf returns how far back the baseline of the frame lies that a source made last.
func (o *Options) backOf(src dataset.Source) int {
	if o.Back != Own {
		return int(o.Back)
	}
	return src.(dataset.Priced).Price().Base
}

// Dataset describes the scored data.
type Dataset struct {
	Spec   string   `json:"spec"`
	SHA256 string   `json:"sha256"`          // of the scored records, including frames 0..5
	Frames int      `json:"frames"`          // scored frames, including frames 0..5
	Cubes  int      `json:"cubes,omitempty"` // per frame; for cubes only
	Item   string   `json:"item"`            // name of a row: "cube"
	Items  int      `json:"items"`           // rows per frame
	Game   *gameRun `json:"game,omitempty"`  // of demos only

	Baselines string `json:"baselines"`      // where they lie: one of the rules below
	Back      Back   `json:"back,omitempty"` // how many frames back, of BackRule
}

// Where baselines lie.
const (
	walkoffRule = "walkoff" // 6 frames back
	BackRule    = "back"    // another number of frames back
	GameRule    = "game"    // where those of the game did
)

// gameRun is what the game itself spent on the frames that were scored, but for keyframes of the
// recording, which it did not send.
type gameRun struct {
	Bytes          float64 `json:"bytes"` // of bits that fill no byte, too
	Packets        int     `json:"packets"`
	Keyframes      int     `json:"keyframes,omitempty"`
	KeyframeBytes  float64 `json:"keyframe_bytes,omitempty"`
	BytesPerPacket float64 `json:"bytes_per_packet"`
	Kbps           float64 `json:"kbps"`
}

// Board is the result of a walk-off.
type Board struct {
	Dataset Dataset  `json:"dataset"`
	Results []Result `json:"results"`
	// Interrupted: Results do not cover all encoders.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Failed lists the encoders that were not lossless or failed the audit, each with its
// problem.
func (b *Board) Failed() []string {
	var list []string
	for _, r := range b.Results {
		if !r.Lossless || r.Audit == auditFail {
			list = append(list, fmt.Sprintf("%s: %s", r.Encoder, r.Problem))
		}
	}
	return list
}

// Run scores codecs, in their order, on the recording that open opens; spec is its name. A codec that
// fails gives a result, not an error. If ctx ends, the board holds the finished encoders, and the error
// is that of ctx.
func Run(ctx context.Context, spec string, open Open, codecs []*encoders.Codec, opt Options) (*Board, error) {
	if opt.Back == 0 {
		opt.Back = Delay
	}
	board := &Board{Dataset: Dataset{Spec: spec}, Results: []Result{}}
	if err := board.Dataset.survey(ctx, open, &opt); err != nil {
		return board, err
	}
	frames := board.Dataset.Frames - Delay
	for i, codec := range codecs {
		m := &scoring{codec: codec, opt: opt, frames: frames}
		if opt.Progress != nil {
			m.progress = func(done int) {
				opt.Progress(float64(i*frames+done), float64(len(codecs)*frames))
			}
		}
		result, err := m.run(ctx, open)
		if err != nil {
			board.Interrupted = ctx.Err() != nil
			return board, err
		}
		if g := board.Dataset.Game; g != nil && g.Bytes > 0 {
			share := round(float64(result.Bytes-m.tally.keyBytes) / g.Bytes)
			result.OfGame = &share
		}
		board.Results = append(board.Results, result)
	}
	return board, nil
}

// survey reads the recording once before any encoder runs. It validates it, counts its frames and
// computes its digest.
func (d *Dataset) survey(ctx context.Context, open Open, opt *Options) error {
	limit := opt.Frames
	if limit != 0 && limit <= Delay {
		return fmt.Errorf("%w: %d frames, expected more than %d: frames 0..5 are the initial state", errRules, limit, Delay)
	}
	src, err := open()
	if err != nil {
		return err
	}
	defer closeSource(src)
	if err := d.describe(src, opt); err != nil {
		return err
	}
	s := src.Schema()
	f := s.NewFrame()
	src.Initial(f)
	sum := dataset.NewDigest(f)
	priced, game := src.(dataset.Priced)
	g := &gameRun{}
	for limit == 0 || d.Frames < limit {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := src.Next(f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		sum.Add(f)
		d.Frames++
		if game {
			g.add(priced.Price())
		}
	}
	if d.Frames == Delay {
		return fmt.Errorf("%w: %s ends with the initial state, expected more than %d frames", errRules, d.Spec, Delay)
	}
	d.SHA256 = sum.Sum()
	if game {
		g.sumUp(s.TickHz)
		d.Game = g
	}
	return nil
}

// describe validates the data and the options, and notes what is known before the first frame is read.
func (d *Dataset) describe(src dataset.Source, opt *Options) error {
	s := src.Schema()
	_, priced := src.(dataset.Priced)
	_, own := src.(*table.Source)
	back := opt.Back
	switch {
	case !own && !priced && !frame.IsCubes(s):
		return fmt.Errorf("%w: %s holds %s, expected snapshots of cubes, a table of your own or the demo of a match", errRules, d.Spec, s.Name)
	case back == Own && !priced:
		return fmt.Errorf("%w: %s does not tell what a game referred to, expected the demo of a match", errRules, d.Spec)
	case back < Own || back > MaxBack:
		return fmt.Errorf("%w: baselines %d frames back, expected 1 to %d", errRules, back, MaxBack)
	case back != Delay && opt.Audit != nil:
		return fmt.Errorf("%w: the audit is of the rule n-%d, expected baselines %d frames back", errRules, Delay, Delay)
	case back == Delay:
		d.Baselines = walkoffRule
	case back == Own:
		d.Baselines = GameRule
	default:
		d.Baselines, d.Back = BackRule, back
	}
	d.Frames, d.Item, d.Items = Delay, s.Item, s.Rows
	if frame.IsCubes(s) {
		d.Cubes = s.Rows
	}
	if r, ok := src.(interface{ Preamble() error }); ok { // no encoder reads frames 1..5, but the rules define them
		return r.Preamble()
	}
	return nil
}

func (g *gameRun) add(p dataset.Price) {
	bytes := float64(p.Bits) / 8
	if p.Key {
		g.Keyframes, g.KeyframeBytes = g.Keyframes+1, g.KeyframeBytes+bytes
		return
	}
	g.Packets, g.Bytes = g.Packets+1, g.Bytes+bytes
}

// sumUp computes the means, at hz frames a second.
func (g *gameRun) sumUp(hz int) {
	if g.Packets > 0 {
		g.BytesPerPacket = round(g.Bytes / float64(g.Packets))
	}
	g.Kbps = round(g.BytesPerPacket * 8 * float64(hz) / 1000)
}

// closeSource closes a source that holds a file.
func closeSource(src dataset.Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close() // it was only read
	}
}
