package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"
	"wirelab/experiment/engine"
	"wirelab/experiment/figures"
	"wirelab/lossmodel"
)

// writeSamples writes one row per sample of 100 ms.
func writeSamples(w io.Writer, all []engine.Sample) error {
	head := []string{"t_s", "sent", "payload_kbps", "wire_kbps", "feedback_kbps", "bits_per_item", "bits_per_changed", "baseline_age_ticks",
		"displayed", "starved"}
	for o := engine.Decoded; o < engine.NumOutcomes; o++ {
		head = append(head, o.String())
	}
	for c := lossmodel.Cause(1); c < lossmodel.NumCauses; c++ {
		head = append(head, "lost_"+c.String())
	}
	head = append(head, "late", "position_error_mm", "orientation_error_deg", // the worst of the period
		"age_ms") // the mean; nothing if nothing was shown
	out := csv.NewWriter(w)
	if err := out.Write(head); err != nil {
		return err
	}
	from := startOf(all)
	for i := range all {
		if err := out.Write(sampleRow(&all[i], all[i].T-from)); err != nil {
			return err
		}
		from = all[i].T
	}
	out.Flush()
	return out.Error()
}

// startOf returns when the first of the samples began: not at zero in a live
// session, which remembers only its last minutes.
func startOf(all []engine.Sample) time.Duration {
	if len(all) == 0 {
		return 0
	}
	return (all[0].T - 1).Truncate(engine.SamplePeriod)
}

func sampleRow(s *engine.Sample, width time.Duration) []string {
	kbps := func(bits int64) string { return decimal(figures.Ratio(float64(bits)/1000, width.Seconds()), 3) }
	row := []string{
		decimal(s.T.Seconds(), 3), strconv.Itoa(s.Sent), kbps(s.PayloadBits), kbps(s.WireBits), kbps(s.FeedbackBits),
		decimal(figures.Ratio(float64(s.PayloadBits), float64(s.Items)), 4),
		decimal(figures.Ratio(float64(s.PayloadBits), float64(s.Changed)), 3),
		decimal(figures.Ratio(float64(s.BaselineAge), float64(s.Referenced)), 3), strconv.Itoa(s.Displayed), strconv.Itoa(s.Starved),
	}
	for o := engine.Decoded; o < engine.NumOutcomes; o++ {
		row = append(row, strconv.Itoa(s.Outcomes[o]))
	}
	for c := lossmodel.Cause(1); c < lossmodel.NumCauses; c++ {
		row = append(row, strconv.Itoa(s.LostBy[c]))
	}
	age := ""
	if s.Aged > 0 {
		age = decimal(s.Age.Seconds()*1000/float64(s.Aged), 3)
	}
	return append(row, strconv.Itoa(s.Late), decimal(s.PositionErrorMM, 3), decimal(s.OrientationErrorDeg, 3), age)
}

// writePackets writes one row per packet and copy, by sequence.
func writePackets(w io.Writer, all []engine.PacketRecord, troubles map[engine.PacketID]Trouble) error {
	out := csv.NewWriter(w)
	head := []string{"seq", "copy", "send_us", "recv_us", "outcome", "cause", "encoder", "epoch", "baseline", "payload_bytes", "wire_bytes",
		"changed", "seam",
		"reason", "why"}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range all {
		if err := out.Write(packetRow(&all[i], troubles[all[i].ID()])); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func packetRow(p *engine.PacketRecord, x Trouble) []string {
	micros := func(d time.Duration) string { return decimal(float64(d)/1000, 3) }
	recv, cause := "", ""
	switch {
	case p.Outcome == engine.Lost:
		recv, cause = "lost", p.Cause.String()
	case p.Outcome != engine.InFlight:
		recv = micros(p.Arrived)
	}
	return []string{
		strconv.FormatUint(p.Seq, 10), strconv.Itoa(p.Copy), micros(p.Sent), recv, p.Outcome.String(), cause, p.Encoder,
		strconv.FormatUint(p.Epoch, 10), strconv.Itoa(p.Baseline), strconv.Itoa(p.Payload), strconv.Itoa(p.Wire), strconv.Itoa(p.Changed),
		strconv.FormatBool(p.Seam), x.Reason, x.Why,
	}
}

func decimal(v float64, places int) string { return strconv.FormatFloat(v, 'f', places, 64) }
