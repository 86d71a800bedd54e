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

// errUnsuitable means that the data or options cannot be scored by the rules of a walk-off.
var errUnsuitable = errors.New("unsuitable for a walk-off")

// Open opens the recording at its beginning. Run calls it once for each encoder and once before, so
// that memory does not grow with the recording.
type Open func() (dataset.Source, error)

// Options configure a walk-off.
type Options struct {
	// Frames is the number of frames of the recording to score, including frames 0..5.
	// 0 means all; then the source must end.
	Frames int
	// Back is the age of the baselines; 0 means Delay, as in the rules. With another value the audit is
	// not possible.
	Back BaselineAge
	// Params are the parameters of the codecs, in their order. A nil or missing element means the codec's
	// defaults.
	Params []any
	// Audit returns the command of an audit process; nil means no audit.
	Audit processCommand
	// Session is timed with each encoder; nil means that results have no timing.
	Session session
	// Clock times the encoders. It must be monotonic.
	Clock wallclock.Clock
	// Progress, if not nil, is called with the number of finished frames and the number of all
	// frames, both summed over all encoders. The frames of sessions count too.
	Progress func(done, total float64)
}

// baselineAge returns the age in frames of the baseline for the frame that src returned last. With
// GameBaseline it is the age that the game used, 0 if the game used none.
func (o *Options) baselineAge(src dataset.Source) int {
	if o.Back != GameBaseline {
		return int(o.Back)
	}
	return src.(dataset.Priced).Price().Base
}

// datasetInfo describes the scored data.
type datasetInfo struct {
	Spec   string   `json:"spec"`
	SHA256 string   `json:"sha256"`          // hash of the frames as stored in the recording, including frames 0..5
	Frames int      `json:"frames"`          // scored frames, including frames 0..5
	Cubes  int      `json:"cubes,omitempty"` // per frame; for cubes only
	Item   string   `json:"item"`            // name of a row: "cube"
	Items  int      `json:"items"`           // rows per frame
	Game   *gameRun `json:"game,omitempty"`  // demos only

	// Precision contains the rounding errors of the scored data; nil unless the data are a table.
	Precision []dataset.Precision `json:"precision,omitempty"`

	Baselines string      `json:"baselines"`      // how baselines were chosen: walkoffRule, BackRule or GameRule
	Back      BaselineAge `json:"back,omitempty"` // age of the baselines with BackRule
}

// Values of datasetInfo.Baselines.
const (
	walkoffRule = "walkoff" // age of 6 frames
	BackRule    = "back"    // another constant age
	GameRule    = "game"    // the baselines of the game itself
)

// gameRun is the size of what the game itself sent for the scored frames.
type gameRun struct {
	Bytes          float64 `json:"bytes"` // not an integer, because packets are counted in bits
	Packets        int     `json:"packets"`
	BytesPerPacket float64 `json:"bytes_per_packet"`
	Kbps           float64 `json:"kbps"`
}

// Scoreboard is the result of a walk-off: the data and the results of the encoders.
type Scoreboard struct {
	Dataset datasetInfo `json:"dataset"`
	Results []Result    `json:"results"`
	// Interrupted is true if Results do not contain all encoders.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Failed returns a line for each encoder that was not lossless or failed the audit: its name
// and the problem.
func (b *Scoreboard) Failed() []string {
	var list []string
	for _, r := range b.Results {
		if !r.Lossless || r.Audit == auditFail {
			list = append(list, fmt.Sprintf("%s: %s", r.Label(), r.Problem))
		}
	}
	return list
}

// Run scores codecs, in order, on the recording that open opens; spec is its name. The failure of a codec
// is a result, not an error. If ctx ends, the board contains the finished encoders, and the error is that
// of ctx.
func Run(ctx context.Context, spec string, open Open, codecs []*encoders.Codec, opt Options) (*Scoreboard,
	error) {
	if opt.Back == 0 {
		opt.Back = Delay
	}
	board := &Scoreboard{Dataset: datasetInfo{Spec: spec}, Results: []Result{}}
	if err := board.Dataset.survey(ctx, open, &opt); err != nil {
		return board, err
	}
	frames := board.Dataset.Frames - Delay
	framesPerCodec := frames
	if opt.Session != nil {
		framesPerCodec *= 2
	}
	for i, codec := range codecs {
		m := &scorer{codec: codec, params: codec.Defaults(), opt: opt, frames: frames}
		if i < len(opt.Params) && opt.Params[i] != nil {
			m.params = opt.Params[i]
		}
		if opt.Progress != nil {
			m.progress = func(done int) {
				opt.Progress(float64(i*framesPerCodec+done), float64(len(codecs)*framesPerCodec))
			}
		}
		result, err := m.score(ctx, open, i)
		if err != nil {
			board.Interrupted = ctx.Err() != nil
			return board, err
		}
		if g := board.Dataset.Game; g != nil && g.Bytes > 0 && result.Lossless {
			ratio := round(float64(result.Bytes) / g.Bytes)
			result.OfGame = &ratio
		}
		board.Results = append(board.Results, result)
	}
	return board, nil
}

// survey reads the recording once, before any encoder runs, and sets d: it validates the data and the
// options, counts the frames, and computes their digest and, for a demo, the size of what the game sent.
func (d *datasetInfo) survey(ctx context.Context, open Open, opt *Options) error {
	limit := opt.Frames
	if limit != 0 && limit <= Delay {
		return fmt.Errorf("%w: %d frames, expected more than %d: frames 0..5 are the initial state",
			errUnsuitable, limit, Delay)
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
	digest := dataset.NewDigest(f)
	priced, isPriced := src.(dataset.Priced)
	gameSize := &gameRun{}
	n, err := dataset.Read(ctx, src, f, max(limit-Delay, 0), func(int) error {
		digest.Add(f)
		if isPriced {
			gameSize.add(priced.Price())
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.Frames = Delay + n
	if d.Frames == Delay {
		return fmt.Errorf("%w: %s ends with the initial state, expected more than %d frames", errUnsuitable,
			d.Spec, Delay)
	}
	d.SHA256 = digest.Sum()
	if rounded, ok := src.(dataset.Rounded); ok {
		d.Precision = rounded.Precision()
	}
	if isPriced {
		gameSize.computeMeans(s.TickHz)
		d.Game = gameSize
	}
	return nil
}

// describe checks the data and the options, and sets the fields of d that do not depend on the frames.
func (d *datasetInfo) describe(src dataset.Source, opt *Options) error {
	s := src.Schema()
	_, isPriced := src.(dataset.Priced)
	_, isTable := src.(*table.Source)
	back := opt.Back
	switch {
	case !isTable && !isPriced && !frame.IsCubes(s):
		return fmt.Errorf("%w: %s has %s, expected snapshots of cubes, a table or the demo of a match",
			errUnsuitable, d.Spec, s.Name)
	case back == GameBaseline && !isPriced:
		return fmt.Errorf("%w: %s does not contain the baselines of a game, expected the demo of a match",
			errUnsuitable, d.Spec)
	case back < GameBaseline || back > MaxBaselineAge:
		return fmt.Errorf("%w: baselines are %d frames old, expected 1 to %d", errUnsuitable, back,
			MaxBaselineAge)
	case back != Delay && opt.Audit != nil:
		return fmt.Errorf("%w: the audit requires baselines that are %d frames old", errUnsuitable, Delay)
	case back == Delay:
		d.Baselines = walkoffRule
	case back == GameBaseline:
		d.Baselines = GameRule
	default:
		d.Baselines, d.Back = BackRule, back
	}
	d.Item, d.Items = s.Item, s.Rows
	if frame.IsCubes(s) {
		d.Cubes = s.Rows
	}
	// A recording of the walk-off has frames 1..5 too. No encoder reads them, but by the rules they must equal
	// frame 0.
	if r, ok := src.(interface{ Preamble() error }); ok {
		return r.Preamble()
	}
	return nil
}

// add adds the size that a frame has in the demo.
func (g *gameRun) add(p dataset.Price) {
	g.Packets++
	g.Bytes += float64(p.Bits) / 8
}

// computeMeans computes the means, at hz frames per second.
func (g *gameRun) computeMeans(hz int) {
	if g.Packets > 0 {
		g.BytesPerPacket = round(g.Bytes / float64(g.Packets))
	}
	g.Kbps = round(g.BytesPerPacket * 8 * float64(hz) / 1000)
}

// closeSource closes a source that has a Close method.
func closeSource(src dataset.Source) {
	if c, ok := src.(io.Closer); ok {
		_ = c.Close() // only read: an error loses no data
	}
}
