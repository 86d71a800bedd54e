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

// errLossy means that decoded frames differ from those sent, so that times are meaningless.
var errLossy = errors.New("not lossless")

// Options configure a measurement.
type Options struct {
	Frames   int // see walkoff.Options.Frames
	Rounds   int // number of rounds; each measures all codecs in turn
	Clock    func() time.Duration
	Progress func(done, total float64) // nil if not wanted
}

// A Report is the result of a measurement. Sizes are exact; times are medians over the rounds.
type Report struct {
	Dataset   walkoff.Dataset `json:"dataset"`
	GOOS      string          `json:"goos"`
	GOARCH    string          `json:"goarch"`
	CPU       string          `json:"cpu,omitempty"` // name of the processor; empty if unknown
	Cores     int             `json:"cores"`
	Go        string          `json:"go"`
	Reference float64         `json:"reference_us"` // median time of a pass of the reference loop
	Rounds    int             `json:"rounds"`
	Rows      []encoderRow    `json:"rows"`
	// Interrupted is true if not all rounds were measured.
	Interrupted bool `json:"interrupted,omitempty"`
}

// An encoderRow has the measurements of one encoder. Samples have one value per round.
type encoderRow struct {
	Encoder        string  `json:"encoder"`
	RunsAs         string  `json:"runs_as,omitempty"` // encoders.Plugin.Runs of a plugin
	Packets        int     `json:"packets"`
	BytesPerPacket float64 `json:"bytes_per_packet"` // by the rules of the walk-off
	Kbps           float64 `json:"kbps"`
	BitsPerChanged float64 `json:"bits_per_changed_item"`

	Encode samples `json:"encode"` // median over the packets
	Decode samples `json:"decode"` // median over the packets
	Frame  samples `json:"frame"`  // mean per frame of the whole engine: see badLinkConfig
	// RealTime is the speed of the engine divided by real time.
	RealTime float64 `json:"real_time_factor"`
}

// samples are times, one per round.
type samples struct {
	US  []float64 `json:"us"`  // microseconds
	Ref []float64 `json:"ref"` // in passes of the reference loop
}

// Median returns the medians of both lists, which must not be empty.
func (s *samples) Median() (us, ref float64) {
	return quantile.Median(slices.Clone(s.US)), quantile.Median(slices.Clone(s.Ref))
}

// add adds a time in microseconds. ref is the time of a reference pass.
func (s *samples) add(us, ref float64) {
	s.US = append(s.US, us)
	s.Ref = append(s.Ref, us/ref)
}

// Run measures codecs on the data that open opens; spec is the name of the data. In each round each codec runs
// in a walk-off, which measures it alone and without loss, and then in a session over a bad link with the given
// seed. Run returns an error if a codec decodes a frame incorrectly or if ctx is cancelled. With an error, the
// report still has the rounds that were complete.
func Run(ctx context.Context, spec string, seed uint64, open walkoff.Open, codecs []*encoders.Codec, opt Options) (*Report, error) {
	b := &Report{GOOS: runtime.GOOS, GOARCH: runtime.GOARCH, CPU: cpuName(), Cores: runtime.GOMAXPROCS(0), Go: runtime.Version()}
	c, err := badLinkConfig(spec, seed)
	if err != nil {
		return b, err
	}
	m := measurement{report: b, spec: spec, open: open, config: c, opt: opt}
	rows := make([]encoderRow, len(codecs))
	for round := range opt.Rounds {
		for i, codec := range codecs {
			m.progress = func(part float64) {
				if opt.Progress != nil {
					opt.Progress(float64(round*len(codecs)+i)+part, float64(opt.Rounds*len(codecs)))
				}
			}
			if err := m.measureCodec(ctx, &rows[i], codec); err != nil {
				b.Interrupted = ctx.Err() != nil
				b.Rows = nil
				if round > 0 {
					b.Rows = rows[:len(codecs):len(codecs)]
					dropUnfinished(b.Rows, round)
				}
				return b, err
			}
		}
		b.Rounds, b.Reference, b.Rows = round+1, quantile.Median(slices.Clone(m.referenceTimes)), rows
	}
	return b, nil
}

// dropUnfinished removes the samples of a round that was not finished. rounds is the number of complete
// rounds.
func dropUnfinished(rows []encoderRow, rounds int) {
	for i := range rows {
		for _, s := range []*samples{&rows[i].Encode, &rows[i].Decode, &rows[i].Frame} {
			s.US, s.Ref = s.US[:rounds], s.Ref[:rounds]
		}
	}
}

// badLinkConfig returns the configuration of the session that is measured: 5 % loss, 50 ms latency and 16 ms
// jitter in both directions.
func badLinkConfig(spec string, seed uint64) (*config.Config, error) {
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

// A measurement is the state of Run.
type measurement struct {
	report         *Report
	spec           string
	open           walkoff.Open
	config         *config.Config
	opt            Options
	progress       func(part float64) // receives which part of the current row is done, 0 to 1
	referenceTimes []float64          // microseconds per pass
}

// measureCodec measures a codec once and adds the samples to row.
func (m *measurement) measureCodec(ctx context.Context, row *encoderRow, codec *encoders.Codec) error {
	before := referenceTime(m.opt.Clock)
	// For the progress, the walk-off is the first half of the work, the session the second.
	board, err := walkoff.Run(ctx, m.spec, m.open, []*encoders.Codec{codec}, walkoff.Options{
		Frames: m.opt.Frames, Clock: m.opt.Clock, Progress: func(done, total float64) { m.progress(done / total / 2) }})
	if err != nil {
		return err
	}
	if failed := board.Failed(); len(failed) > 0 {
		return fmt.Errorf("%w: %s", errLossy, failed[0])
	}
	between := referenceTime(m.opt.Clock) // after the walk-off, before the session
	m.report.Dataset = board.Dataset
	r := &board.Results[0]
	row.Encoder, row.Packets, row.BytesPerPacket, row.Kbps, row.BitsPerChanged = r.Encoder, r.Packets, r.BytesPerPacket, r.Kbps, r.BitsPerChangedItem
	row.RunsAs = r.RunsAs
	row.Encode.add(r.EncodeUS.P50, (before+between)/2)
	row.Decode.add(r.DecodeUS.P50, (before+between)/2)

	// The session lasts as long as the scored frames. hz is their rate, which the figures imply.
	c := m.config.Clone()
	hz := r.Kbps * 1000 / 8 / r.BytesPerPacket
	c.Duration = time.Duration(float64(board.Dataset.Frames) / hz * float64(time.Second))
	if err := c.Set("encoder.name", codec.Name); err != nil {
		return err
	}
	sessionStart := m.opt.Clock()
	report, err := experiment.Run(ctx, c, experiment.RunOptions{Clock: m.opt.Clock,
		Progress: func(done, total float64) { m.progress(0.5 + done/max(total, 1)/2) }})
	took := m.opt.Clock() - sessionStart
	if err == nil {
		err = ctx.Err() // an interrupted run returns no error
	}
	if err != nil {
		return err
	}
	sent, wrong := report.Runs[0].Totals.Sent, report.Runs[0].Totals.Wrong
	if wrong > 0 {
		return fmt.Errorf("%w: %s decoded %d packets of a session incorrectly", errLossy, codec.Name, wrong)
	}
	after := referenceTime(m.opt.Clock)
	row.Frame.add(float64(took)/1e3/float64(max(sent, 1)), (between+after)/2)
	frameUS, _ := row.Frame.Median()
	row.RealTime = 1e6 / hz / frameUS // time between frames divided by the time to process one
	m.referenceTimes = append(m.referenceTimes, before, between, after)
	return nil
}

// cpuName returns the name of the processor from /proc/cpuinfo, which only Linux has; empty if it is unknown.
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
