package report

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
)

// maxSampleRows bounds what is read of a samples.csv: over an hour; more would not
// be seen in a chart.
const maxSampleRows = 40_000

// ReadSamples reads what a samples.csv holds for charts: bandwidth, changed items and what
// became of the packets.
func ReadSamples(path string) ([]meters.Sample, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", path) // to open a pipe is to wait
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.ReuseRecord = true
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("%s is no table: %w", path, err)
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	var out []meters.Sample
	for len(out) < maxSampleRows {
		row, err := r.Read()
		if err != nil { // the end, or a line that was cut off
			break
		}
		number := func(name string) float64 {
			if i, ok := at[name]; ok {
				if v, err := strconv.ParseFloat(row[i], 64); err == nil && math.Abs(v) < 1e12 {
					return v
				}
			}
			return 0
		}
		bits := func(kbps float64) int64 { return int64(math.Round(kbps * 1000 * meters.SamplePeriod.Seconds())) }
		s := meters.Sample{T: time.Duration(math.Round(number("t_s")*1000)) * time.Millisecond, Sent: int(number("sent")),
			PayloadBits: bits(number("payload_kbps")), WireBits: bits(number("wire_kbps")), FeedbackBits: bits(number("feedback_kbps"))}
		if per := number("bits_per_changed"); per > 0 {
			s.Changed = int64(math.Round(float64(s.PayloadBits) / per))
		}
		for o := packetlog.Decoded; o < packetlog.NumOutcomes; o++ {
			s.Outcomes[o] = int(number(o.String()))
		}
		out = append(out, s)
	}
	return out, nil
}
