package main

import (
	"fmt"
	"io"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/experiment/report"
	"wirelab/internal/texttable"
	"wirelab/internal/units"
)

// writeTransfer tells a person how a file came across: how long it took, what had to
// be sent, and what that would have been with the encoders beside.
func writeTransfer(w io.Writer, r *engine.Result) {
	t, x := r.Totals, r.Totals.Transfer
	fmt.Fprintf(w, "%s, seed %d: %.1f s, a new file of %d bytes for those who have one of %d\n\n", title(r), r.Seed, r.DurationS,
		x.NewBytes, x.OldBytes)
	fmt.Fprintf(w, "time      %s\n", timeToPatch(x))
	fmt.Fprintf(w, "packed    %d bytes, %.2f %% of the new file; %d blocks\n", x.PackedBytes,
		share(int64(x.PackedBytes), int64(x.NewBytes)), x.Blocks)
	fmt.Fprintf(w, "datagrams %s\n", outcomes(t))
	fmt.Fprintf(w, "resent    %d blocks; %d came that were there already\n", x.Resent, x.Spurious)
	fmt.Fprintf(w, "sent      %s KB of payload, %s on the wire; %s of feedback\n",
		kilobytes(x.PayloadBytes), kilobytes(x.WireBytes), kilobytes(x.FeedbackBytes))
	fmt.Fprintf(w, "per %-5s %s bits\n", r.Item, figureOf(t.BitsPerItem))
	fmt.Fprintf(w, "round trip %s ms, timeout %s ms, as the sender has it\n", figure(x.RoundTripMS), figure(x.TimeoutMS))
	fmt.Fprintf(w, "wrong     %d\n", t.Wrong)
	fmt.Fprintf(w, "here      packed in %s, unpacked in %s; %.0f times real time\n", shortly(r.Timing.PackMS),
		shortly(r.Timing.UnpackMS), r.Timing.RealTimeFactor)
	writeRivals(w, r)
	fmt.Fprintf(w, "\ndigest %s\n", r.Digest)
}

// timeToPatch says how long it took, or how far it came.
func timeToPatch(x *figures.Transfer) string {
	switch {
	case x.TimeS != nil:
		return fmt.Sprintf("%.3f s from the first datagram until the file was rebuilt, SHA-256 %.16s...", *x.TimeS, x.SHA256)
	case x.Blocks == 0:
		return "unfinished: nothing was packed yet, and nothing sent"
	case x.Failed:
		return fmt.Sprintf("unfinished: what came within %.3f s is not the file: it was damaged on the way", x.ElapsedS)
	}
	return fmt.Sprintf("unfinished: %d of %d blocks after %.3f s", x.Delivered, x.Blocks, x.ElapsedS)
}

// writeRivals sets further encoders beside the first: the same file on the same link.
func writeRivals(w io.Writer, r *engine.Result) {
	if len(r.Shadows) == 0 {
		return
	}
	fmt.Fprint(w, "\nThe same file, link and seed:\n")
	g := texttable.New("encoder", ">packed bytes", ">% of new", ">datagrams", ">resent", ">wire KB", ">seconds", ">times as long", ">wrong")
	for name, t := range report.Lanes(r) {
		x := t.Transfer
		if x.Encoder != "" { // that took over since
			name = x.Encoder
		}
		times := ""
		if first := r.Totals.Transfer.TimeS; x.TimeS != nil && first != nil && *first > 0 {
			times = fmt.Sprintf("%.2f", *x.TimeS / *first)
		}
		g.Add(name, x.PackedBytes, fmt.Sprintf("%.2f", share(int64(x.PackedBytes), int64(x.NewBytes))), t.Sent, x.Resent,
			kilobytes(x.WireBytes), transferSeconds(x), times, t.Wrong)
	}
	g.WriteText(w, 0)
}

// kilobytes writes a number of bytes in KB.
func kilobytes(bytes int64) string { return units.Fixed(float64(bytes)/1000, 1) }

// shortly writes a time that this process took.
func shortly(ms float64) string {
	return time.Duration(ms * 1e6).Round(time.Millisecond).String()
}

func transferTitles() []string {
	return []string{">packed bytes", ">datagrams", ">resent", ">lost", ">seconds", ">beside", ">wrong"}
}

// transferCells tell how long a run took, and how long it took the first of the encoders beside.
func transferCells(run *engine.Result) []any {
	t, beside := &run.Totals, "-"
	if len(run.Shadows) > 0 {
		beside = transferSeconds(run.Shadows[0].Totals.Transfer)
	}
	return []any{t.Transfer.PackedBytes, t.Sent, t.Transfer.Resent, t.Lost, transferSeconds(t.Transfer), beside, t.Wrong}
}

// transferSeconds writes how long a file took.
func transferSeconds(x *figures.Transfer) string {
	if x == nil || x.TimeS == nil {
		return "unfinished"
	}
	return fmt.Sprintf("%.3f", *x.TimeS)
}
