package report

import (
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/internal/atomicfile"
	"wirelab/internal/testkit"
)

// A run with policies and other traffic writes playout.csv, control.csv and queue.csv; a second run may
// replace its folder.
func TestFilesOfPolicies(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	var folder *atomicfile.Folder
	for range 2 {
		c := config.Default()
		c.Duration = 8 * time.Second
		for _, pair := range [][2]string{{"receiver.playout_compare", "all"}, {"sender.control", "gcc"}, {"down.rate", "30kbit"}, {"down.queue", "64KB"},
			{"traffic", "1 constant rate=1kbit"}} {
			if err := c.Set(pair[0], pair[1]); err != nil {
				t.Fatal(err)
			}
		}
		c.At = []config.StampedChange{config.Stamp(4*time.Second, config.NewChange("down.rate", "1mbit"))}
		var err error
		if folder, err = OpenFolder(nil, dir, true); err != nil {
			t.Fatal(err)
		}
		e := NewExporter(folder, nil, nil, Pages{})
		s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(60, 20, -1, 3), engine.Options{Observer: e.Observer()})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RunUntil(c.Duration); err != nil {
			t.Fatal(err)
		}
		if err := e.Write(s.Result()); err != nil {
			t.Fatal(err)
		}
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
	}
	playouts := testkit.CheckCSV(t, "playout.csv", readText(t, folder, "playout.csv"))
	if len(playouts) != 1+80*5 || strings.Join(playouts[1][:2], " ") != "0.100 fixed 85ms" || playouts[400][1] != "age" || playouts[400][4] == "" {
		t.Errorf("playout.csv has %d rows: %q, %q", len(playouts), playouts[1], playouts[len(playouts)-1])
	}
	controls := testkit.CheckCSV(t, "control.csv", readText(t, folder, "control.csv"))
	if len(controls) != 81 || controls[80][0] != "8.000" || controls[80][3] == "" {
		t.Errorf("control.csv has %d rows, the last is %q", len(controls), controls[len(controls)-1])
	}
	if queue := testkit.CheckCSV(t, "queue.csv", readText(t, folder, "queue.csv")); len(queue) != 1+2*80 {
		t.Errorf("queue.csv has %d rows", len(queue))
	}
}

// A run with a budget writes priorities.csv, in the order of the priorities and with weighted errors,
// and can be replaced.
func TestFileOfPriorities(t *testing.T) {
	c := config.Default()
	for _, pair := range [][2]string{{"duration", "2s"}, {"sender.budget", "8kbit"}, {"sender.weights", "position=2"}, {"sender.priority", "accumulated constant=0"}} {
		if err := c.Set(pair[0], pair[1]); err != nil {
			t.Fatal(err)
		}
	}
	folder, err := OpenFolder(nil, filepath.Join(t.TempDir(), "out"), false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = folder.Close() }()
	e := NewExporter(folder, nil, nil, Pages{})
	s, err := engine.NewSessionFromSource(c, labtest.NewCubeSource(60, 20, -1, 3), engine.Options{Observer: e.Observer()})
	if err == nil {
		err = s.RunUntil(c.Duration)
	}
	if err == nil {
		err = e.Write(s.Result())
	}
	if err != nil {
		t.Fatal(err)
	}
	rows := testkit.CheckCSV(t, "priorities.csv", readText(t, folder, "priorities.csv"))
	if len(rows) < 10 || strings.Join(rows[0][:6], " ") != "rank row standing priority error weighted_error" {
		t.Fatalf("priorities.csv: %q", rows[:min(len(rows), 2)])
	}
	last := math.Inf(1)
	for _, row := range rows[1:] {
		priority, errPriority := strconv.ParseFloat(row[3], 64)
		unweighted, errUnweighted := strconv.ParseFloat(row[4], 64)
		weighted, errWeighted := strconv.ParseFloat(row[5], 64)
		if err := errors.Join(errPriority, errUnweighted, errWeighted); err != nil || priority > last {
			t.Errorf("%q after a priority of %v: %v", row, last, err)
		}
		if weighted < unweighted || weighted > 2*unweighted || row[6] != "0.000" || row[7] != "1.000" {
			t.Errorf("%q has another weighted error, constant or factor than expected", row)
		}
		last = priority
	}
	if !reportFileName.MatchString("priorities.csv") || !reportFileName.MatchString("queue.csv") {
		t.Error("--force refuses a folder with a file of a report")
	}
}
