package report

import (
	"cmp"
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/engine/meters"
	"wirelab/experiment/engine/packetlog"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/atomicfile"
	"wirelab/internal/testkit"
)

// recordingExporter records the samples and packets that it receives, and passes them to the Exporter.
type recordingExporter struct {
	*Exporter
	packets []packetlog.Record
	samples int
	maxHeld int // largest number of stored packets
}

func (k *recordingExporter) Sample(s *meters.Sample) { k.samples++; k.Exporter.Sample(s) }

func (k *recordingExporter) Packet(p *packetlog.Record, x *engine.Problem) {
	k.packets = append(k.packets, *p)
	k.Exporter.Packet(p, x)
	k.maxHeld = max(k.maxHeld, len(k.list))
}

// The files have a row for every sample, packet and copy, in the order of sequence numbers,
// although packets end in another order and only some of them are stored.
func TestRowsOfLongRun(t *testing.T) {
	c := config.Default()
	c.Duration = 5 * time.Minute
	testkit.Set(t, c, "down.loss", "8%", "down.latency", "500ms", "down.jitter", "400ms", "down.duplicate", "20%",
		"encoder.name", "quantized")
	folder, err := (*atomicfile.Disk)(nil).Open(t.TempDir(), reportFileName.MatchString, false)
	if err != nil {
		t.Fatal(err)
	}
	out := &recordingExporter{Exporter: NewExporter(folder, nil, nil, Pages{})}
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(2, 1, -1, 1), engine.Options{Observer: out, KeepSamples: 1})
	if err != nil {
		t.Fatal(err)
	}
	for err == nil && !s.Done() { // reports are written meanwhile
		if err = s.Advance(40 * time.Second); err == nil {
			err = out.Write(s.Result())
		}
	}
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	rows := func(name string) [][]string {
		file, err := os.Open(filepath.Join(folder.Path(), name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		all, err := csv.NewReader(file).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		return all[1:]
	}
	slices.SortStableFunc(out.packets, func(a, b packetlog.Record) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
	want := make([][]string, len(out.packets))
	for i := range want {
		want[i] = packetRow(&packetEntry{Record: out.packets[i]})
	}
	if got := rows("packets.csv"); !reflect.DeepEqual(got, want) {
		t.Errorf("%d packets, want %d, or in another order", len(got), len(want))
	}
	if got := len(rows("samples.csv")); got != out.samples || got != 3000 {
		t.Errorf("%d samples of %d", got, out.samples)
	}
	if out.maxHeld > minSettlePackets+100 {
		t.Errorf("%d of %d packets were held at once", out.maxHeld, len(want))
	}
}

// ReadSamples does not wait for a pipe.
func TestReadSamplesOfFolder(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadSamples(dir); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}
