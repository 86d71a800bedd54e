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

// maxSampleRows is the maximum number of rows that ReadSamples reads: over an hour, more than a chart
// can show.
const maxSampleRows = 40_000

// ReadSamples reads the figures that charts need from a samples.csv: bandwidth, changed rows, loop points and the
// outcomes of packets. The other fields of the samples stay zero. It stops without an error at a
// truncated line.
func ReadSamples(path string) ([]meters.Sample, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path) // opening a pipe would block
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
		return nil, fmt.Errorf("%s is not a CSV file: %w", path, err)
	}
	columns := map[string]int{} // by name
	for i, name := range head {
		columns[name] = i
	}
	var out []meters.Sample
	for len(out) < maxSampleRows {
		row, err := r.Read()
		if err != nil { // the end of the file, or a truncated line
			break
		}
		number := func(name string) float64 { // 0 if the column is missing or has no finite number below 1e12
			if i, ok := columns[name]; ok {
				if v, err := strconv.ParseFloat(row[i], 64); err == nil && math.Abs(v) < 1e12 {
					return v
				}
			}
			return 0
		}
		bits := func(kbps float64) int64 { return int64(math.Round(kbps * 1000 * meters.SamplePeriod.Seconds())) }
		s := meters.Sample{T: time.Duration(math.Round(number("t_s")*1000)) * time.Millisecond, Sent: int(number("sent")),
			PayloadBits: bits(number("payload_kbps")), WireBits: bits(number("wire_kbps")), FeedbackBits: bits(number("feedback_kbps")),
			CrossingLoop: int(number("across"))}
		// The file has the ratios, not the numbers of rows.
		if perItem := number("bits_per_item"); perItem > 0 {
			s.Items = int64(math.Round(float64(s.PayloadBits) / perItem))
		}
		if perChanged := number("bits_per_changed"); perChanged > 0 {
			s.Changed = int64(math.Round(float64(s.PayloadBits) / perChanged))
		}
		for o := packetlog.Decoded; o < packetlog.NumOutcomes; o++ {
			s.Outcomes[o] = int(number(o.String()))
		}
		out = append(out, s)
	}
	return out, nil
}
