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

// writeTransfer writes the result of a file transfer: how long it took, what was sent, and the
// same for the shadows.
func writeTransfer(w io.Writer, r *engine.Result) {
	t, x := r.Totals, r.Totals.Transfer
	printf(w, "%s, seed %d: %.1f s, a file of %d bytes for a receiver with an old version of %d bytes\n\n", runTitle(r), r.Seed, r.DurationS,
		x.NewBytes, x.OldBytes)
	fmt.Fprintf(w, "time      %s\n", transferStatus(x))
	fmt.Fprintf(w, "packed    %d bytes, %s %% of the new file; %d blocks\n", x.PackedBytes,
		percent(int64(x.PackedBytes), int64(x.NewBytes)), x.Blocks)
	printf(w, "datagrams %s\n", outcomes(t))
	fmt.Fprintf(w, "resent    %d blocks; %d blocks received again\n", x.Resent, x.Spurious)
	fmt.Fprintf(w, "sent      payload %s KB, wire %s KB, feedback %s KB\n",
		kilobytes(x.PayloadBytes), kilobytes(x.WireBytes), kilobytes(x.FeedbackBytes))
	printf(w, "per %-5s %s bits\n", r.Item, formatFigure(t.BitsPerItem))
	fmt.Fprintf(w, "timers    smoothed round trip %s ms, retransmission timeout %s ms\n", formatNumber(x.RoundTripMS), formatNumber(x.TimeoutMS))
	fmt.Fprintf(w, "wrong     %d\n", t.Wrong)
	fmt.Fprintf(w, "cpu       packing %s, unpacking %s; run at %.0f times real time\n", formatMillis(r.Timing.PackMS),
		formatMillis(r.Timing.UnpackMS), r.Timing.RealTimeFactor)
	writeTransferShadows(w, r)
	printf(w, "\ndigest %s\n", r.Digest)
}

// transferStatus describes how long the transfer took or, if it is incomplete, how much of it was
// delivered.
func transferStatus(x *figures.Transfer) string {
	switch {
	case x.TimeS != nil:
		return fmt.Sprintf("%.3f s from the first datagram to the rebuilt file, SHA-256 %.16s...", *x.TimeS, x.SHA256)
	case x.Blocks == 0:
		return "unfinished: the patch was not yet made"
	case x.Failed:
		return fmt.Sprintf("unfinished: after %.3f s all blocks had arrived, but the file was damaged on the way", x.ElapsedS)
	}
	return fmt.Sprintf("unfinished: %d of %d blocks were delivered after %.3f s", x.Delivered, x.Blocks, x.ElapsedS)
}

// writeTransferShadows writes a table that compares the transfer with those of the shadows. The
// time ratio is the transfer time of a shadow divided by that of the active encoder.
func writeTransferShadows(w io.Writer, r *engine.Result) {
	if len(r.Shadows) == 0 {
		return
	}
	fmt.Fprint(w, "\nThe same file, link and seed:\n")
	g := texttable.New("encoder", ">packed bytes", ">% of new", ">datagrams", ">resent", ">wire KB", ">seconds", ">time ratio", ">wrong")
	for name, t := range report.Lanes(r) {
		x := t.Transfer
		if x.Encoder != "" { // the encoder was changed during the run
			name = x.Encoder
		}
		ratio := ""
		if first := r.Totals.Transfer.TimeS; x.TimeS != nil && first != nil && *first > 0 {
			ratio = fmt.Sprintf("%.2f", *x.TimeS / *first)
		}
		g.Add(name, x.PackedBytes, percent(int64(x.PackedBytes), int64(x.NewBytes)), t.Sent, x.Resent,
			kilobytes(x.WireBytes), transferSeconds(x), ratio, t.Wrong)
	}
	g.WriteText(w, anyWidth)
}

// kilobytes formats a number of bytes in units of 1000 bytes.
func kilobytes(bytes int64) string { return units.Fixed(float64(bytes)/1000, 1) }

// formatMillis formats a time in milliseconds, rounded to whole ones.
func formatMillis(ms float64) string {
	return time.Duration(ms * 1e6).Round(time.Millisecond).String()
}

// transferTitles returns the column titles of transferCells.
func transferTitles() []string {
	return []string{">packed bytes", ">datagrams", ">resent", ">lost", ">seconds", ">shadow s", ">wrong"}
}

// transferCells returns the figures of one transfer, in the columns of transferTitles. The shadow's
// duration is that of the first shadow; "-" without shadows.
func transferCells(run *engine.Result) []any {
	t, shadowTime := &run.Totals, "-"
	if len(run.Shadows) > 0 {
		shadowTime = transferSeconds(run.Shadows[0].Totals.Transfer)
	}
	return []any{t.Transfer.PackedBytes, t.Sent, t.Transfer.Resent, t.Lost, transferSeconds(t.Transfer), shadowTime, t.Wrong}
}

// transferSeconds formats the duration of a transfer in seconds.
func transferSeconds(x *figures.Transfer) string {
	if x == nil || x.TimeS == nil {
		return "unfinished"
	}
	return fmt.Sprintf("%.3f", *x.TimeS)
}
