package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"wirelab/dataset"
	"wirelab/dataset/stats"
	"wirelab/encoders"
	"wirelab/encoders/table"
	"wirelab/experiment/endpoint"
	"wirelab/experiment/walkoff"
	"wirelab/internal/texttable"
)

// ackLag is how many messages late acks arrive.
const ackLag = 4

// messageInfo is the JSON output of tui datasets stats for messages.
type messageInfo struct {
	Spec    string   `json:"spec"`
	Remarks []string `json:"remarks"` // what the source reports about its data
	stats.BodySummary
	Lag      int                     `json:"lag"` // how many messages late acks arrive
	Encoders []walkoff.MessageResult `json:"encoders"`
}

// writeMessageStats writes statistics of the messages of src, and their size with each encoder,
// the smallest first. Encoders that could not encode any message follow. It returns a failure if an
// encoder is not lossless.
func (a *app) writeMessageStats(ctx context.Context, src dataset.Source, f statsFlags) error {
	if len(f.against) > 0 {
		return usagef("--against compares snapshots of cubes, but %s contains messages", f.data.spec)
	}
	if !f.encodersGiven {
		f.encoders = table.SuitableNames(table.All(), src.Schema())
	}
	codecs, err := f.findCodecs(src.Schema())
	if err != nil {
		return err
	}
	info := messageInfo{Spec: f.data.spec, Lag: ackLag, Remarks: []string{}, Encoders: []walkoff.MessageResult{}}
	if r, ok := src.(dataset.Remarked); ok {
		info.Remarks = append(info.Remarks, r.Remarks()...)
	}
	if info.BodySummary, err = measureMessages(ctx, src, f.frames); err != nil {
		return err
	}
	line := a.progress("stats")
	for i := range codecs {
		saving, err := a.measureSaving(ctx, codecs[i], f.params[i], f)
		if err != nil {
			line.done()
			return err
		}
		info.Encoders = append(info.Encoders, saving)
		line.report(float64(i+1), float64(len(codecs)))
	}
	line.done()
	slices.SortStableFunc(info.Encoders, func(x, y walkoff.MessageResult) int {
		encodesAny := -cmp.Compare(min(x.Messages, 1), min(y.Messages, 1)) // first those that encoded any message
		return cmp.Or(encodesAny, cmp.Compare(x.Bytes, y.Bytes))
	})
	return cmp.Or(a.writeResult(info, func(w io.Writer) { a.writeMessageText(w, &info) }), lossyEncoders(&info))
}

// lossyEncoders returns a failure that names the encoders that did not decode every message
// exactly; nil if all did.
func lossyEncoders(m *messageInfo) error {
	var reasons []string
	for _, s := range m.Encoders {
		if s.Messages > 0 && !s.Lossless {
			reasons = append(reasons, s.Encoder+": "+s.Problem)
		}
	}
	return newFailure(reasons)
}

// measureMessages returns statistics of up to limit messages; 0 means no limit. The time of a message
// is the one that the source has recorded or, without recorded times, that of its tick.
func measureMessages(ctx context.Context, src dataset.Source, limit int) (stats.BodySummary, error) {
	s := src.Schema()
	cadence := endpoint.Cadence{TickHz: s.TickHz, RateHz: s.TickHz} // one message per tick
	if timed, ok := src.(dataset.Timed); ok {
		cadence.Times = timed
	}
	count, f := &stats.Bodies{}, s.NewFrame()
	_, err := dataset.Read(ctx, src, f, limit, func(n int) error {
		count.Add(cadence.TickTime(uint64(n)), f.Body)
		return nil
	})
	if err != nil {
		return stats.BodySummary{}, asUsageError(withoutSyscall(err))
	}
	return count.Summary(), nil
}

// measureSaving encodes the messages with one encoder and returns the sizes. It opens the data
// again, since the frames of a source can be read only once. If params do not name a file that the
// encoder needs, and there is no other problem, the Problem of the result names the parameter.
func (a *app) measureSaving(ctx context.Context, codec *encoders.Codec, params any, f statsFlags) (walkoff.MessageResult, error) {
	src, err := f.data.open(ctx)
	if err != nil {
		return walkoff.MessageResult{}, err
	}
	defer closeSource(src)
	saving, err := walkoff.MeasureMessages(ctx, codec, params, src, walkoff.MessageOptions{Lag: ackLag, Limit: f.frames, Clock: a.clock})
	if missing := codec.UnsetFiles(params); len(missing) > 0 && saving.Problem == "" {
		saving.Problem = fmt.Sprintf("parameter %s is missing: --encoder \"%s %s=FILE\"", missing[0], codec.Name, missing[0])
	}
	if text := string(codec.Canonical(params)); text != "" { // the parameters that differ from their defaults
		saving.Encoder += " " + text
	}
	return saving, err
}

// maxShownPlaces is the largest number of byte offsets that the table of messages lists.
const maxShownPlaces = 32

// writeMessageText writes the statistics of messages as text.
func (a *app) writeMessageText(w io.Writer, m *messageInfo) {
	for _, r := range m.Remarks {
		a.remark("%s", r)
	}
	printf(w, "%s: %d messages, %d bytes in %.1f s: %.1f per second (max %d), %.2f kbps\n\n", m.Spec, m.Messages, m.Bytes,
		m.Seconds, m.PerSecond, m.Most, m.Kbps)
	fmt.Fprintf(w, "size      mean %.1f bytes, median %d, p95 %d, min %d, max %d\n", m.Size.Mean, m.Size.P50,
		m.Size.P95, m.Size.Min, m.Size.Max)
	fmt.Fprintf(w, "interval  median %.1f ms, p95 %.1f, max %.1f\n", m.Gap.P50, m.Gap.P95, m.Gap.Max)
	fmt.Fprintf(w, "entropy   %.2f bits per byte, %.2f given the previous byte\n", m.Order0, m.Order1)
	fmt.Fprintf(w, "repeated  %.1f %% of messages equal an earlier one\n\n", 100*m.Repeated)
	g := texttable.New(">offset", ">present %", ">bits", ">values", "most common")
	for _, p := range m.Places[:min(maxShownPlaces, len(m.Places))] {
		g.Add(p.At, fmt.Sprintf("%.1f", 100*p.Share), fmt.Sprintf("%.2f", p.Bits), p.Values, fmt.Sprintf("%02x, %.1f %%", p.Common, 100*p.Often))
	}
	g.WriteText(w, a.columns)
	fmt.Fprintf(w, "\nPayload sizes by encoder, without loss, with acks %d messages late:\n\n", m.Lag)
	g = texttable.New("encoder", ">bytes", ">% of raw", ">larger", ">max growth", ">encode µs/B", ">decode µs/B", "")
	note := ""
	for _, s := range m.Encoders {
		if s.Messages == 0 { // the encoder could not encode any message
			g.Add(s.Encoder, slices.Repeat([]string{"-"}, 6), s.Problem) // "-" in the 6 columns of numbers
			continue
		}
		mark := encoders.TimeMarker(s.Timing.RunsAs)
		if mark != "" {
			note = encoders.TimeFootnote(s.Timing.RunsAs) + "\n"
		}
		g.Add(s.Encoder, s.Bytes, fmt.Sprintf("%.1f", 100*s.Ratio), s.Larger, s.MaxGrowth, fmt.Sprintf("%.3f%s", s.Timing.EncodeUS, mark),
			fmt.Sprintf("%.3f%s", s.Timing.DecodeUS, mark), s.Problem)
	}
	g.WriteText(w, a.columns)
	fmt.Fprint(w, note)
}
