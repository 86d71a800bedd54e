package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// exporter gathers the rows of a report while a session runs, and writes the
// folder: each file whole or not at all.
type Exporter struct {
	Dir     string
	Set     map[string]string // the run's place in a sweep
	Samples []engine.Sample
	Packets []engine.PacketRecord
}

// Sample implements Observer.
func (e *Exporter) Sample(s *engine.Sample) { e.Samples = append(e.Samples, *s) }

// Packet implements Observer.
func (e *Exporter) Packet(p *engine.PacketRecord) { e.Packets = append(e.Packets, *p) }

// file is one file of a report, written by a function.
type file struct {
	name  string
	write func(w io.Writer) error
}

// write writes the whole folder for r, if there is one.
func (e *Exporter) Write(r *engine.Result) error {
	r.Set = e.Set
	if e.Dir == "" {
		return nil
	}
	e.sort()
	return writeFiles(e.Dir, []file{
		{"experiment.toml", func(w io.Writer) error { return writeTOML(w, r) }},
		{"samples.csv", func(w io.Writer) error { return writeSamples(w, e.Samples) }},
		{"packets.csv", func(w io.Writer) error { return writePackets(w, e.Packets) }},
		{"report.md", func(w io.Writer) error { return writeMarkdown(w, r, e.Samples) }},
		{"report.json", func(w io.Writer) error { return writeJSON(w, &Report{Runs: []*engine.Result{r}}) }},
	})
}

// sort puts the packets in order of sequence: they came in the order they ended.
func (e *Exporter) sort() {
	slices.SortStableFunc(e.Packets, func(a, b engine.PacketRecord) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
}

// writeSweep writes the top of a sweep's folder: the results so far, a page that
// compares them, and the configuration. The runs have folders of their own below.
func WriteSweep(dir string, c *config.Config, r *Report) error {
	return writeFiles(dir, []file{
		{"experiment.toml", func(w io.Writer) error { return writeConfig(w, c) }},
		{"report.md", func(w io.Writer) error { return writeSweepMarkdown(w, r) }},
		{"report.json", func(w io.Writer) error { return writeJSON(w, r) }},
	})
}

func writeJSON(w io.Writer, r *Report) error {
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, data, "", "  "); err != nil {
		return err
	}
	pretty.WriteByte('\n')
	_, err = w.Write(pretty.Bytes())
	return err
}

// writeTOML writes the effective configuration with the changes that were made
// as its script, and the length the run had: running it repeats the run.
func writeTOML(w io.Writer, r *engine.Result) error {
	c, err := r.Replayable()
	if err != nil {
		return err
	}
	return writeConfig(w, c)
}

func writeConfig(w io.Writer, c *config.Config) error {
	text, err := c.TOML()
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// writeFiles writes each file beside its place and renames it there, so that a
// reader never sees half of one. dir is made if it is missing.
func writeFiles(dir string, files []file) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report folder %s: %w", dir, errors.Unwrap(err))
	}
	for _, f := range files {
		if err := writeWhole(filepath.Join(dir, f.name), f.write); err != nil {
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// writeWhole writes path whole or not at all.
func writeWhole(path string, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(tmp.Close()), os.Remove(tmp.Name()))
		}
	}()
	var buf bytes.Buffer
	if err := write(&buf); err != nil {
		return err
	}
	if _, err := tmp.Write(buf.Bytes()); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// CheckDir says, before a run, whether a report can be written into dir: it makes
// the folder if it is missing, and a file in it for a moment.
func CheckDir(dir string) error {
	fail := func(err error) error {
		return &config.Error{Key: "out", Problem: dir + " cannot be written: " + config.WithoutPath(err), Expected: "a folder for the report"}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fail(err)
	}
	tmp, err := os.CreateTemp(dir, ".wirelab-*")
	if err != nil {
		return fail(err)
	}
	if err := errors.Join(tmp.Close(), os.Remove(tmp.Name())); err != nil {
		return fail(err)
	}
	return nil
}
