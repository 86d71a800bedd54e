package openfile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"wirelab/dataset"
	"wirelab/dataset/frame"
	"wirelab/dataset/quake3"
	"wirelab/dataset/source"
	"wirelab/dataset/table"
	"wirelab/experiment/config"
	"wirelab/internal/boundedio"
	"wirelab/internal/setting"
	"wirelab/internal/units"
)

// Limits of a search.
const (
	maxDepth   = 3       // of the folders below the current one
	maxEntries = 2000    // that are looked at, files and folders
	stepFiles  = 8       // that one step examines
	maxOpened  = 8 << 20 // size of a file that is read to find its length and rate
	maxLog     = 1 << 16 // as maxOpened, of logs, which take longer
	headBytes  = 1 << 16 // of a report
	maxRecent  = 50      // paths in the file of those opened before
)

// Search lists what can be opened: the sources without a file, files that were opened before, those in the current folder
// and below it, and those in the folders of files that were opened before. Its methods are called by one goroutine at a
// time.
type Search struct {
	recent  string // the file of the paths that were opened before
	reports string // the folder of saved reports
	started bool
	pending []string         // files that are not examined yet
	known   map[string]bool  // absolute paths of all files found so far
	left    int              // number of entries that may still be looked at
	Found   []setting.Option // so far: the path and a summary of each file
}

// NewSearch returns a search that reads the file recent, see Remember, and lists also the folder of saved reports.
func NewSearch(recent, reports string) *Search {
	return &Search{recent: recent, reports: reports, known: map[string]bool{}, left: maxEntries, Found: builtIn()}
}

// Step continues the search: it adds files to the end of Found. It reads a bounded part of a few files. It returns false
// after the last step.
func (s *Search) Step() (more bool) {
	if !s.started {
		s.started = true
		s.listFiles()
	}
	n := min(len(s.pending), stepFiles)
	for _, path := range s.pending[:n] {
		if summary := describe(path); summary != "" {
			s.Found = append(s.Found, setting.Option{Name: path, Summary: summary})
		}
	}
	s.pending = s.pending[n:]
	return len(s.pending) > 0
}

// builtIn returns the sources of data that need no file.
func builtIn() (list []setting.Option) {
	for _, k := range dataset.Kinds() {
		if k.Arg != source.NeedsArgument {
			list = append(list, setting.Option{Name: k.Name, Summary: k.Summary})
		}
	}
	return list
}

// listFiles finds the files to examine.
func (s *Search) listFiles() {
	recent := readRecent(s.recent)
	for _, path := range recent {
		s.add(path)
	}
	s.walk(".", maxDepth)
	for _, path := range recent {
		s.walk(filepath.Dir(path), 1)
	}
	s.walk(s.reports, 1)
}

// add adds a path if something is there and it was not found before. It reports whether it was added.
func (s *Search) add(path string) bool {
	absolute, err := filepath.Abs(path)
	if _, statErr := os.Stat(path); err != nil || statErr != nil || s.known[absolute] {
		return false
	}
	s.known[absolute] = true
	s.pending = append(s.pending, ShortPath(absolute))
	return true
}

// ShortPath returns the shortest form of an absolute path that ParsePath accepts: the path, or the path from the current
// or the home folder.
func ShortPath(path string) string {
	short := path
	if rest, ok := strings.CutPrefix(path, homeFolder()+"/"); ok {
		short = "~/" + rest
	}
	current, _ := os.Getwd()
	if rel, err := filepath.Rel(current, path); err == nil && len(rel) < len(short) {
		return rel
	}
	return short
}

// walk adds the files in a folder and in those below it, depth levels in all, the nearest first. The folder of a report is
// added, and not its files; in each level the newest report is first. Links to folders are not followed, and hidden ones
// not entered.
func (s *Search) walk(root string, depth int) {
	for level := []string{root}; depth > 0 && len(level) > 0; depth-- {
		var below, reports []string
		for _, folder := range level {
			entries := readFolder(folder, s.left)
			s.left -= len(entries)
			for _, e := range entries {
				path := filepath.Join(folder, e.Name())
				isHidden := strings.HasPrefix(e.Name(), ".")
				switch {
				case isHidden:
				case e.IsDir() && isFile(filepath.Join(path, reportName)):
					reports = append(reports, path)
				case e.IsDir():
					below = append(below, path)
				case isFile(path):
					s.add(path)
				}
			}
		}
		slices.SortStableFunc(reports, func(a, b string) int { return modified(b).Compare(modified(a)) })
		for _, path := range reports {
			s.add(path)
		}
		level = below
	}
}

// modified returns when the file at path was last modified; for the folder of a report, when its results were.
func modified(path string) time.Time {
	info, err := os.Stat(ReportPath(path))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// readFolder returns at most limit entries of a folder, "" for the current one, by name. It returns none if the folder
// cannot be read.
func readFolder(folder string, limit int) []fs.DirEntry {
	if limit <= 0 {
		return nil
	}
	f, err := os.Open(cmp.Or(folder, "."))
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(limit)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// describe returns what the file at path is, its length and further properties, if a bounded part of the file shows them,
// and its date. It returns "" for a file that cannot be opened, which is not listed.
func describe(path string) string {
	kind, data, err := recognise(path)
	var words []string
	switch {
	case err != nil:
	case kind == Report:
		words = describeReport(ReportPath(path))
	case kind == Config:
		words = describeConfig(path)
	case kind == LinkCapture:
		words = []string{"link capture", "sets the downlink"}
	default:
		words = describeData(path, data)
	}
	if len(words) == 0 {
		return ""
	}
	return strings.Join(append(words, modified(path).Format(time.DateOnly)), ", ")
}

// dataNames are the names of the kinds of data in files, if they differ from those in specifications.
var dataNames = map[string]string{"file": "recording", table.Kind.Name: "log", quake3.Kind.Name: "demo of Quake III", "packets": "capture"}

// describeData describes a file with data; nil if it cannot be opened.
func describeData(path string, kind dataset.Kind) []string {
	info, err := os.Stat(path)
	if err != nil {
		return nil
	}
	name, size := cmp.Or(dataNames[kind.Name], kind.Name), units.Bytes(float64(info.Size()))
	limit := int64(maxOpened)
	if kind.Name == table.Kind.Name {
		limit = maxLog
	}
	if info.Size() > limit {
		return []string{name, size}
	}
	src, err := dataset.Open(context.Background(), path, dataset.Options{})
	if err != nil {
		return nil
	}
	if closer, ok := src.(io.Closer); ok {
		defer closer.Close()
	}
	schema := src.Schema()
	return []string{name, seconds(float64(countFrames(src)) / float64(schema.TickHz)), fmt.Sprintf("%d Hz", schema.TickHz), size}
}

// countFrames returns the number of frames of a source that ends.
func countFrames(src dataset.Source) (n int) {
	if sized, ok := src.(dataset.Sized); ok && sized.Frames() > 0 {
		return sized.Frames()
	}
	for f := new(frame.Frame); src.Next(f) == nil; {
		n++
	}
	return n
}

// seconds formats a length in seconds.
func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// describeReport describes a report by the beginning of its report.json; nil if it cannot be read.
func describeReport(path string) []string {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, headBytes))
	var settings struct {
		Encoder struct{ Name string }
		Data    struct{ Source string }
	}
	length := 0.0
	values := json.NewDecoder(bytes.NewReader(head))
	_, err = values.Token() // the brace
	for err == nil && values.More() && length == 0 {
		var value json.RawMessage
		var key json.Token
		key, err = values.Token()
		if err == nil {
			err = values.Decode(&value)
		}
		switch key {
		case "config":
			_ = json.Unmarshal(value, &settings) // what it lacks is left out
		case "duration_s":
			_ = json.Unmarshal(value, &length)
		}
	}
	if settings.Encoder.Name == "" { // of a sweep
		return []string{"report"}
	}
	return []string{"report", settings.Encoder.Name, seconds(length), filepath.Base(settings.Data.Source)}
}

// describeConfig describes a configuration; nil for TOML of another program.
func describeConfig(path string) []string {
	c, err := config.LoadFile(path)
	if err != nil {
		return nil
	}
	words := []string{"configuration", filepath.Base(c.Data.Source)}
	if c.Duration > 0 {
		words = append(words, units.FormatDuration(c.Duration))
	}
	return words
}

// Remember adds a path as the newest to the file recent of the paths that were opened before.
func Remember(recent, path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil || !exists(path) {
		return err
	}
	list := slices.DeleteFunc(readRecent(recent), func(old string) bool { return old == absolute })
	list = append([]string{absolute}, list...)
	if err := os.MkdirAll(filepath.Dir(recent), 0o755); err != nil {
		return err
	}
	text := strings.Join(list[:min(len(list), maxRecent)], "\n") + "\n"
	return os.WriteFile(recent, []byte(text), 0o600)
}

// exists reports whether something is at path.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// readRecent returns the paths that were opened before, the newest first; none if the file cannot be read.
func readRecent(recent string) []string {
	const maxBytes = 1 << 20
	data, err := boundedio.ReadFile(recent, maxBytes)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}
