package main

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"wirelab/dataset/packets"
	"wirelab/internal/texttable"
	"wirelab/internal/unpack"
	"wirelab/lossmodel/capture"
	"wirelab/lossmodel/measure"

	"github.com/klauspost/compress/zstd"
	"github.com/spf13/cobra"
)

// linksFitCommand returns tui links fit.
func (a *app) linksFitCommand() *cobra.Command {
	var sent, received string
	cmd := &cobra.Command{
		Use:   "fit CAPTURE.csv | --sent A.pcap --received B.pcap",
		Short: "Fit the settings of a link to a capture of a real network",
		Long: `Find the settings of a link that behaves like the network in a capture. The result is a
table [down] for a configuration, with confidence intervals and the goodness of the fit as
comments.

A capture is a CSV file, plain or compressed (.zst, .gz); - is standard input. The first
row names the columns: seq, send_us, recv_us (a time or "lost") and copy; other columns
are ignored. tui links trace writes this format, and packets.csv of a run has it too. The
clocks of sender and receiver may differ.

--sent and --received name packet captures (pcap or pcapng) at the two ends of a path.
Sent and received datagrams are matched by content; datagrams of equal content by order
and time. Select datagrams as with --data packets: FILE[,port=N][,dir=up]. A capture of
tui proxy contains both ends; for datagrams of clients, use
--sent F,port=LISTEN,dir=up --received F,port=SERVER,dir=up.`,
		Example: `  tui links fit capture.csv
  tui links fit capture.csv.zst --json | jq .settings
  tui links fit report/packets.csv > link.toml
  tui links fit --sent server.pcap,port=27960 --received client.pcap,port=27960`,
		Args: func(cmd *cobra.Command, args []string) error {
			if sent != "" || received != "" {
				return noArgs(cmd, args)
			}
			return oneArg("a capture in CSV, or - for standard input; or --sent A.pcap --received B.pcap")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			fit := func() (fitInfo, error) { return fitPackets(cmd.Context(), sent, received) }
			if len(args) > 0 {
				fit = func() (fitInfo, error) { return a.fitCSV(args[0]) }
			}
			return a.linksFit(cmd.Context(), fit)
		},
		ValidArgsFunction: completeFiles(1, "csv", "zst", "gz"),
	}
	cmd.Flags().StringVar(&sent, "sent", "", "packet capture at the sender: `FILE[,port=N][,dir=up]`")
	cmd.Flags().StringVar(&received, "received", "", "packet capture at the receiver: `FILE[,port=N][,dir=up]`")
	a.addOutputFlags(cmd)
	return cmd
}

// matchedCaptures describes how two captures were matched, in the JSON output of tui links fit.
type matchedCaptures struct {
	capture.Matching
	SentFrom     string   `json:"sent_from"` // the sender's capture: file, port and direction
	ReceivedFrom string   `json:"received_from"`
	Remarks      []string `json:"remarks"`
}

// fitInfo is the JSON output of tui links fit.
type fitInfo struct {
	Capture string `json:"capture,omitempty"` // path of the capture; "" if it is no file
	measure.FitResult
	Table string           `json:"toml"`            // the settings as a table of a configuration
	Match *matchedCaptures `json:"match,omitempty"` // nil unless two packet captures were matched
}

// linksFit calls fit, which fits a link, and writes the result.
func (a *app) linksFit(ctx context.Context, fit func() (fitInfo, error)) error {
	var info fitInfo
	err := a.await(ctx, "fit", func() (err error) {
		info, err = fit()
		return err
	})
	if err != nil {
		return err
	}
	if info.Match != nil {
		for _, r := range info.Match.Remarks {
			a.remark("%s", r)
		}
	}
	return a.writeResult(info, func(w io.Writer) { writeFit(w, info.Table, &info.FitResult) })
}

// fitCSV fits a link to the capture in CSV at path; "-" is standard input. The settings are those of
// a downlink, since the file does not name a direction. All its errors are usage errors.
func (a *app) fitCSV(path string) (fitInfo, error) {
	c, err := a.readCapture(path)
	if err != nil {
		return fitInfo{}, err
	}
	fit, err := measure.Fit(c)
	if err != nil {
		return fitInfo{}, asUsageError(fmt.Errorf("%s: %w", path, err))
	}
	return newFitInfo("down", path, &fit), nil
}

// fitPackets fits a link to packet captures at the two ends of a path. sent and received select
// datagrams as FILE[,port=N][,dir=up]. All its errors are usage errors.
func fitPackets(ctx context.Context, sent, received string) (fitInfo, error) {
	if sent == "" || received == "" {
		return fitInfo{}, usagef("tui links fit expects both --sent A.pcap and --received B.pcap")
	}
	from, err := openCapture(ctx, "--sent", sent)
	if err != nil {
		return fitInfo{}, err
	}
	to, err := openCapture(ctx, "--received", received)
	if err != nil {
		return fitInfo{}, err
	}
	if from.Down != to.Down {
		return fitInfo{}, usagef("--sent selects direction %s, --received %s; expected the same direction", from.Direction(), to.Direction())
	}
	// Datagrams outside of the time range of the receiver's capture, from First to Last, are omitted.
	c, matching, err := capture.Match(sightings(from), sightings(to), time.Duration(to.First), time.Duration(to.Last))
	if err != nil {
		return fitInfo{}, asUsageError(fmt.Errorf("%s and %s: %w; expected two captures of the same datagrams", captureLabel(from), captureLabel(to), err))
	}
	fit, err := measure.Fit(c)
	if err != nil {
		return fitInfo{}, asUsageError(fmt.Errorf("%s and %s: %w", captureLabel(from), captureLabel(to), err))
	}
	fit.Notes = append(matchNotes(&matching), fit.Notes...)
	info := newFitInfo(from.Direction(), from.File, &fit)
	info.Match = &matchedCaptures{Matching: matching, SentFrom: captureLabel(from), ReceivedFrom: captureLabel(to), Remarks: slices.Concat([]string{}, from.Remarks(), to.Remarks())}
	return info, nil
}

// openCapture reads the packet capture that the value of a flag selects: a file, port and
// direction.
func openCapture(ctx context.Context, flag, spec string) (*packets.Capture, error) {
	path, choice, err := packets.ParseSpec(spec)
	var c *packets.Capture
	if err == nil {
		c, err = packets.Open(ctx, path, choice)
	}
	if err != nil {
		return nil, asUsageError(withFlag(flag, withoutSyscall(err)))
	}
	return c, nil
}

// captureLabel returns the file, port and direction of a capture.
func captureLabel(c *packets.Capture) string {
	return fmt.Sprintf("%s (port %d, %s)", c.File, c.Port, c.Direction())
}

// sightings returns the selected datagrams of a capture in order of time: when each was seen, and
// its payload.
func sightings(c *packets.Capture) []capture.Sighting {
	list := make([]capture.Sighting, len(c.Chosen()))
	for i, d := range c.Chosen() {
		list[i] = capture.Sighting{At: time.Duration(d.At), Data: d.Payload}
	}
	slices.SortStableFunc(list, func(x, y capture.Sighting) int { return cmp.Compare(x.At, y.At) })
	return list
}

// matchNotes returns sentences about how many datagrams of two captures were matched, and about
// what limits the accuracy.
func matchNotes(m *capture.Matching) []string {
	notes := []string{fmt.Sprintf("%d of %d sent datagrams are among the %d received ones, which include %d copies; %d were lost",
		m.Matched, m.Sent, m.Received, m.Copies, m.Lost)}
	if m.Outside > 0 {
		notes = append(notes, fmt.Sprintf("%d datagrams are omitted, because the receiver's capture does not cover their time", m.Outside))
	}
	if m.Unmatched > 0 {
		notes = append(notes, fmt.Sprintf("%d received datagrams match no sent datagram: they are damaged or belong to other traffic", m.Unmatched))
	}
	if m.Equal > 0 {
		notes = append(notes, fmt.Sprintf("%d sent datagrams have the same content as others and were matched by order and time", m.Equal))
	}
	return append(notes, "delays are measured between two clocks: latency is only as accurate as these clocks agree")
}

// newFitInfo returns the JSON output for a fit to the capture at path, which is "" if the capture is
// no file. direction, "down" or "up", names the table of settings.
func newFitInfo(direction, path string, fit *measure.FitResult) fitInfo {
	info := fitInfo{Capture: path, FitResult: *fit, Table: fit.Table(direction)}
	info.Settings = append([]measure.Setting{}, fit.Settings...) // an empty list in JSON, not null
	info.LossModels = append([]measure.Candidate{}, fit.LossModels...)
	return info
}

// writeFit writes the table of a fitted link, and the goodness of the fit as comments.
func writeFit(w io.Writer, table string, fit *measure.FitResult) {
	fmt.Fprintln(w, table)
	writeGoodness(&commentWriter{w: w}, fit)
}

// writeGoodness writes how well the fitted link reproduces the capture, and the models that were
// compared.
func writeGoodness(w io.Writer, fit *measure.FitResult) {
	g := texttable.New("figure", ">capture", ">this link")
	for _, row := range fit.Goodness() { // a row has the cells of these three columns
		g.Add(row[0], row[1], row[2])
	}
	g.WriteText(w, anyWidth)
	writeCandidates(w, texttable.New("loss model", ">BIC", "lower is better"), fit.LossModels,
		func(m measure.Candidate) string { return fmt.Sprintf("%.1f", m.BIC) })
	writeCandidates(w, texttable.New("distribution", ">distance", "lower is better"), fit.DelayModels,
		func(m measure.Candidate) string { return fmt.Sprintf("%.4f", m.D) })
}

// writeCandidates adds the models that were compared, with their scores, to the empty table g and
// writes it. The first model is the chosen one; a single one was compared with nothing and is not
// written. Scores are distances, or values of the Bayesian information criterion (BIC), which
// penalises each parameter of a model.
func writeCandidates(w io.Writer, g *texttable.Table, models []measure.Candidate, score func(measure.Candidate) string) {
	if len(models) < 2 {
		return
	}
	for i, m := range models {
		remark := ""
		if i == 0 {
			remark = "chosen"
		}
		g.Add(m.Name, score(m), remark)
	}
	fmt.Fprintln(w)
	g.WriteText(w, anyWidth)
}

// commentWriter writes "# " before every line.
type commentWriter struct {
	w       io.Writer
	pending string // an incomplete last line
}

// Write writes all complete lines and keeps an incomplete last line for the next call. What is
// written must end in a line break.
func (c *commentWriter) Write(p []byte) (int, error) {
	text := c.pending + string(p)
	for {
		line, rest, found := strings.Cut(text, "\n")
		if !found {
			c.pending = text
			return len(p), nil
		}
		if _, err := fmt.Fprintln(c.w, strings.TrimRight("# "+line, " ")); err != nil {
			return 0, err
		}
		text = rest
	}
}

// maxCaptureBytes, 512 MB, is the largest size of a decompressed capture: a small compressed file could
// otherwise fill the memory.
const maxCaptureBytes = 1 << 29

// readCapture reads a CSV capture; "-" is standard input. Its errors are usage errors with the
// name of the file and, if known, the line.
func (a *app) readCapture(path string) (*capture.Capture, error) {
	in, name := a.stdin, "standard input"
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, asUsageError(withoutSyscall(err))
		}
		defer file.Close()
		in, name = file, path
	}
	in, err := decompress(in)
	if err == nil {
		limited := &io.LimitedReader{R: in, N: maxCaptureBytes}
		var c *capture.Capture
		c, err = capture.Read(limited)
		switch {
		case limited.N <= 0: // the limit is reached, so c is incomplete
			err = fmt.Errorf("the capture is larger than %d MB, the largest that can be read", maxCaptureBytes>>20)
		case err == nil:
			return c, nil
		}
	}
	return nil, asUsageError(withPosition(name, err))
}

// decompress returns a reader of the decompressed data. It detects zstd and gzip from the first
// bytes; other data is returned unchanged.
func decompress(in io.Reader) (io.Reader, error) {
	buffered := bufio.NewReaderSize(in, 1<<16)
	magic, err := buffered.Peek(4)
	if err != nil && err != io.EOF { // capture.Read reports an input that is too short
		return nil, err
	}
	switch unpack.Detect(magic) {
	case unpack.Zstd:
		return zstd.NewReader(buffered, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(unpack.MaxWindow))
	case unpack.Gzip:
		return gzip.NewReader(buffered)
	}
	return buffered, nil
}

// withPosition returns an error in a capture, prefixed with name:line, or with name if the line is
// unknown. It omits what the texts of other packages repeat, such as the path.
func withPosition(name string, err error) error {
	var syntax *csv.ParseError
	var path *fs.PathError
	var row *capture.RowError
	switch {
	case errors.As(err, &path):
		return fmt.Errorf("%s: %w", name, path.Err)
	case errors.As(err, &syntax):
		return fmt.Errorf("%s:%d: %w", name, syntax.Line, syntax.Err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: the compressed data is incomplete", name)
	case errors.Is(err, capture.ErrColumns): // the first line names the columns
		return fmt.Errorf("%s:1: %w", name, err)
	case errors.As(err, &row):
		return fmt.Errorf("%s:%d: %w", name, row.Line, row.Err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
