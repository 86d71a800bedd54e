package bench

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"

	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// WriteGo writes a report in the format of Go benchmarks for benchstat, one line per encoder and round.
// Values with the unit -ref, in passes of the reference loop, can be compared between machines.
func WriteGo(w io.Writer, b *Report) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "goos: %s\ngoarch: %s\npkg: wirelab\n", b.GOOS, b.GOARCH)
	if b.CPU != "" {
		fmt.Fprintf(out, "cpu: %s\n", b.CPU)
	}
	fmt.Fprintln(out, "Unit B/packet better=lower")
	for _, unit := range []string{"encode", "decode", "frame"} {
		fmt.Fprintf(out, "Unit %s-ns better=lower\nUnit %s-ref better=lower\n", unit, unit)
	}
	if b.Rounds > 0 {
		fmt.Fprintf(out, "BenchmarkReference %d %s ns/op\n", referencePasses, units.Fixed(1000*b.Reference, 0))
	}
	for round := range b.Rounds {
		for i := range b.Rows {
			r := &b.Rows[i]
			name := "encoder=" + r.Encoder
			if r.RunsAs != "" {
				name += "/runs=" + strings.ReplaceAll(r.RunsAs, " ", "_")
			}
			fmt.Fprintf(out, "BenchmarkEncoder/%s %d", name, r.Packets)
			for _, x := range []struct {
				step  string
				times *samples
			}{{"encode", &r.Encode}, {"decode", &r.Decode}, {"frame", &r.Frame}} {
				ns := 1000 * x.times.US[round] // from µs
				fmt.Fprintf(out, " %s %s-ns %s %[2]s-ref", units.Fixed(ns, 0), x.step, units.Fixed(x.times.Ref[round], 4))
			}
			fmt.Fprintf(out, " %s B/packet\n", units.Fixed(r.BytesPerPacket, 1))
		}
	}
	return out.Flush()
}

// WriteTable writes a report as a Markdown table. date is the date of the measurement.
func WriteTable(w io.Writer, b *Report, date string) error {
	out := bufio.NewWriter(w)
	t := texttable.New("encoder", ">bytes/packet", ">kbps", ">bits/changed", ">encode µs", ">decode µs", ">both, in passes", ">times real time")
	for i := range b.Rows {
		r := &b.Rows[i]
		encode, encodeRef := r.Encode.Median()
		decode, decodeRef := r.Decode.Median()
		name := r.Encoder
		if r.RunsAs != "" {
			name += " (" + r.RunsAs + ")"
		}
		t.Add(name, r.BytesPerPacket, r.Kbps, r.BitsPerChanged, threeDigits(encode), threeDigits(decode), threeDigits(encodeRef+decodeRef), threeDigits(r.RealTime))
	}
	t.WriteMarkdown(out)
	fmt.Fprintf(out, "\nMeasured %s by `tui bench`, %d rounds, medians, on %s, %s, %s. A pass of the reference\nloop takes %s µs there.\n",
		date, b.Rounds, cmp.Or(b.CPU, "an unknown processor"), b.GOOS+"/"+b.GOARCH, b.Go, threeDigits(b.Reference))
	return out.Flush()
}

// threeDigits formats x with three significant digits, or with all digits before the decimal point if these are
// more.
func threeDigits(x float64) string { return units.Stepped(x, 2, 1, 100) }
