package experiment

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
)

// exporter gathers the rows of a report while a session runs, and writes the
// folder: each file whole or not at all.
type exporter struct {
	dir     string
	set     map[string]string // the run's place in a sweep
	samples []Sample
	packets []PacketRecord
}

// Sample implements Observer.
func (e *exporter) Sample(s *Sample) { e.samples = append(e.samples, *s) }

// Packet implements Observer.
func (e *exporter) Packet(p *PacketRecord) { e.packets = append(e.packets, *p) }

// file is one file of a report, written by a function.
type file struct {
	name  string
	write func(w io.Writer) error
}

// write writes the whole folder for r, if there is one.
func (e *exporter) write(r *Result) error {
	r.Set = e.set
	if e.dir == "" {
		return nil
	}
	e.sort()
	return writeFiles(e.dir, []file{
		{"experiment.toml", func(w io.Writer) error { return writeTOML(w, r) }},
		{"samples.csv", func(w io.Writer) error { return writeSamples(w, e.samples) }},
		{"packets.csv", func(w io.Writer) error { return writePackets(w, e.packets) }},
		{"report.md", func(w io.Writer) error { return writeMarkdown(w, r, e.samples) }},
		{"report.json", func(w io.Writer) error { return writeJSON(w, &Report{Runs: []*Result{r}}) }},
	})
}

// sort puts the packets in order of sequence: they came in the order they ended.
func (e *exporter) sort() {
	slices.SortStableFunc(e.packets, func(a, b PacketRecord) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Copy, b.Copy))
	})
}

// writeSweep writes the top of a sweep's folder: the results so far, a page that
// compares them, and the configuration. The runs have folders of their own below.
func writeSweep(dir string, c *Config, r *Report) error {
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
func writeTOML(w io.Writer, r *Result) error {
	c, err := r.Replayable()
	if err != nil {
		return err
	}
	return writeConfig(w, c)
}

func writeConfig(w io.Writer, c *Config) error {
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
		return &ConfigError{Key: "out", Problem: dir + " cannot be written: " + reason(err), Expected: "a folder for the report"}
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
