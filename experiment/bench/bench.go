package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"wirelab/encoders"
	"wirelab/experiment"
	"wirelab/experiment/config"
	"wirelab/experiment/walkoff"
	"wirelab/internal/quantile"
)

// errLossy says that an encoder did not give back what was sent; its times mean nothing.
var errLossy = errors.New("not lossless")

// Options configure a measurement.
type Options struct {
	Frames   int // of the data, as walkoff.Options.Frames has it
	Rounds   int // how often everything is measured, in turns
	Clock    func() time.Duration
	Progress func(done, total float64) // may be nil
}

// Board is what was measured. Sizes are exact; times are medians over the rounds.
type Board struct {
	Dataset   walkoff.Dataset `json:"dataset"`
	GOOS      string          `json:"goos"`
	GOARCH    string          `json:"goarch"`
	CPU       string          `json:"cpu,omitempty"` // its name, where the system tells it
	Cores     int             `json:"cores"`
	Go        string          `json:"go"`
	Reference float64         `json:"reference_us"` // a pass of the fixed loop
	Rounds    int             `json:"rounds"`
	Rows      []row           `json:"rows"`
	// Interrupted says that not all rounds were measured.
	Interrupted bool `json:"interrupted,omitempty"`
}

// row is an encoder. Each list of samples has one of every round.
type row struct {
	Encoder        string  `json:"encoder"`
	RunsAs         string  `json:"runs_as,omitempty"` // of one from outside: WebAssembly or process, whose times they are
	Packets        int     `json:"packets"`
	BytesPerPacket float64 `json:"bytes_per_packet"` // by the rules of the walk-off
	Kbps           float64 `json:"kbps"`
	BitsPerChanged float64 `json:"bits_per_changed_item"`

	Encode samples `json:"encode"` // a packet, the median of all
	Decode samples `json:"decode"`
	Frame  samples `json:"frame"` // the whole engine, the mean of all frames, with 5 % loss and 50 +- 16 ms
	// RealTime is how many times as fast as real time the engine ran.
	RealTime float64 `json:"real_time_factor"`
}

// samples are times of one thing, a figure each round.
type samples struct {
	US  []float64 `json:"us"`  // microseconds
	Ref []float64 `json:"ref"` // in passes of the reference loop, measured just before and after
}

// Median returns the middle of both lists, which are not empty.
func (s *samples) Median() (us, ref float64) {
	return quantile.Median(slices.Clone(s.US)), quantile.Median(slices.Clone(s.Ref))
}

func (s *samples) add(us, ref float64) {
	s.US = append(s.US, us)
	s.Ref = append(s.Ref, us/ref)
}

// Run measures codecs on the data of spec, which open opens: each by the walk-off, then in a
// session over a bad link. What fails to give back what was sent is an error. If ctx ends,
// the board holds the rounds that are whole, and the error is that of ctx.
func Run(ctx context.Context, spec string, seed uint64, open walkoff.Open, codecs []*encoders.Codec, opt Options) (*Board, error) {
	b := &Board{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, CPU: cpuName(), Cores: runtime.GOMAXPROCS(0), Go: runtime.Version()}
	c, err := session(spec, seed)
	if err != nil {
		return b, err
	}
	m := measuring{board: b, spec: spec, open: open, config: c, opt: opt}
	rows := make([]row, len(codecs))
	for round := range opt.Rounds {
		for i, codec := range codecs {
			m.step = func(part float64) {
				if opt.Progress != nil {
					opt.Progress(float64(round*len(codecs)+i)+part, float64(opt.Rounds*len(codecs)))
				}
			}
			if err := m.row(ctx, &rows[i], codec); err != nil {
				b.Interrupted = ctx.Err() != nil
				b.Rows = nil
				if round > 0 {
					b.Rows = rows[:len(codecs):len(codecs)]
					cut(b.Rows, round)
				}
				return b, err
			}
		}
		b.Rounds, b.Reference, b.Rows = round+1, quantile.Median(slices.Clone(m.passed)), rows
	}
	return b, nil
}

// cut takes back what was measured of a round that was not finished.
func cut(rows []row, rounds int) {
	for i := range rows {
		for _, s := range []*samples{&rows[i].Encode, &rows[i].Decode, &rows[i].Frame} {
			s.US, s.Ref = s.US[:rounds], s.Ref[:rounds]
		}
	}
}

// session is the experiment that the engine runs: 5 % loss and 50 +- 16 ms, each way.
func session(spec string, seed uint64) (*config.Config, error) {
	c := config.Default()
	for _, s := range []struct {
		key   string
		value any
	}{{"data.source", spec}, {"seed", int64(max(seed, 1))}, {"link.loss", "5%"}, {"link.latency", "50ms"}, {"link.jitter", "16ms"}} {
		if err := c.Set(s.key, s.value); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// measuring is a measurement under way.
type measuring struct {
	board  *Board
	spec   string
	open   walkoff.Open
	config *config.Config
	opt    Options
	step   func(part float64) // of the present row, told how much is done
	passed []float64          // times of the reference loop
}

// row measures a codec once more.
func (m *measuring) row(ctx context.Context, row *row, codec *encoders.Codec) error {
	before := reference(m.opt.Clock)
	board, err := walkoff.Run(ctx, m.spec, m.open, []*encoders.Codec{codec}, walkoff.Options{
		Frames: m.opt.Frames, Clock: m.opt.Clock, Progress: func(done, total float64) { m.step(done / total / 2) }})
	if err != nil {
		return err
	}
	if failed := board.Failed(); len(failed) > 0 {
		return fmt.Errorf("%w: %s", errLossy, failed[0])
	}
	between := reference(m.opt.Clock)
	m.board.Dataset = board.Dataset
	r := &board.Results[0]
	row.Encoder, row.Packets, row.BytesPerPacket, row.Kbps, row.BitsPerChanged = r.Encoder, r.Packets, r.BytesPerPacket, r.Kbps, r.BitsPerChangedItem
	row.RunsAs = r.RunsAs
	row.Encode.add(r.EncodeUS.P50, (before+between)/2)
	row.Decode.add(r.DecodeUS.P50, (before+between)/2)

	c := m.config.Clone()
	hz := r.Kbps * 1000 / 8 / r.BytesPerPacket
	c.Duration = time.Duration(float64(board.Dataset.Frames) / hz * float64(time.Second))
	if err := c.Set("encoder.name", codec.Name); err != nil {
		return err
	}
	from := m.opt.Clock()
	report, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: m.opt.Clock,
		Progress: func(done, total float64) { m.step(0.5 + done/max(total, 1)/2) }})
	took := m.opt.Clock() - from
	if err == nil {
		err = ctx.Err() // which ends a run, but is no error of it
	}
	if err != nil {
		return err
	}
	sent, wrong := report.Runs[0].Totals.Sent, report.Runs[0].Totals.Wrong
	if wrong > 0 {
		return fmt.Errorf("%w: %s decoded %d packets of a session wrongly", errLossy, codec.Name, wrong)
	}
	after := reference(m.opt.Clock)
	row.Frame.add(float64(took)/1e3/float64(max(sent, 1)), (between+after)/2)
	us, _ := row.Frame.Median()
	row.RealTime = 1e6 / hz / us
	m.passed = append(m.passed, before, between, after)
	return nil
}

// cpuName is what the system calls the processor; empty where it does not say.
func cpuName() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if key, name, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return ""
}
