package report

import (
	"fmt"
	"strings"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/internal/texttable"
)

// mdTransfer tells how a file came across, and what that would have been with the
// encoders beside.
func mdTransfer(b *strings.Builder, r *engine.Result) {
	x := r.Totals.Transfer
	if x == nil {
		return
	}
	fmt.Fprintf(b, "## The file\n\n%d bytes for those who have a file of %d", x.NewBytes, x.OldBytes)
	if x.SHA256 != "" {
		fmt.Fprintf(b, "; SHA-256 `%s`", x.SHA256)
	}
	b.WriteString(".\n\n")
	list := texttable.New("encoder", ">packed bytes", ">of the new file", ">blocks", ">datagrams", ">resent", ">came again", ">seconds")
	for name, t := range Lanes(r) {
		x := t.Transfer
		if x.Encoder != "" { // that took over since
			name = x.Encoder
		}
		list.Add(name, x.PackedBytes, fmt.Sprintf("%.2f %%", 100*figures.Ratio(float64(x.PackedBytes), float64(x.NewBytes))),
			x.Blocks, t.Sent, x.Resent, x.Spurious, x.Verdict())
	}
	mdTable(b, "", list)
	mdRounds(b, x.Rounds)
}

// mdRounds lists the deliveries that ended before.
func mdRounds(b *strings.Builder, rounds []figures.Round) {
	if len(rounds) == 0 {
		return
	}
	b.WriteString("Before that:\n\n")
	t := texttable.New(">began", "encoder", ">packed bytes", ">blocks", ">resent", ">seconds")
	for _, x := range rounds {
		took := "given up"
		if x.Done {
			took = fmt.Sprintf("%.3f", x.TimeS)
		}
		t.Add(fmt.Sprintf("%.3f s", x.StartS), x.Encoder, x.PackedBytes, x.Blocks, x.Resent, took)
	}
	mdTable(b, "", t)
}
