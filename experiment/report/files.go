package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"wirelab/experiment/config"
	"wirelab/experiment/engine"
)

// Files notes which files runs read, so that a report can say where they are and what
// is in them. It may be used by several goroutines; a nil one notes nothing.
type Files struct {
	mu    sync.Mutex
	names []string
	sums  map[string]fileSum // by path
}

// fileSum is a file as it was when it was read.
type fileSum struct {
	size int64
	time time.Time
	sum  string
}

// Note takes down that a file of that name is read, and returns the name.
func (f *Files) Note(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	return name
}

// List returns the files that were noted and are files, with where they are as seen
// from dir.
func (f *Files) List(dir string) []engine.DataFile {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	names := slices.Clone(f.names)
	f.mu.Unlock()
	var list []engine.DataFile
	for _, name := range names {
		if s, ok := f.sumOf(name); ok {
			list = append(list, engine.DataFile{Name: name, Path: SeenFrom(dir, name), Bytes: s.size, SHA256: s.sum})
		}
	}
	slices.SortFunc(list, func(a, b engine.DataFile) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// SeenFrom returns the path that leads from a folder to a file; the whole path where none
// does.
func SeenFrom(dir, name string) string {
	from, err := filepath.Abs(dir)
	if err != nil {
		return name
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if path, err := filepath.Rel(from, to); err == nil {
		return filepath.ToSlash(path)
	}
	return to
}

// sumOf returns size and SHA-256 of a file, false if it is none that can be read twice.
// A large file takes a while, in which others may note what they read.
func (f *Files) sumOf(path string) (fileSum, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return fileSum{}, false
	}
	f.mu.Lock()
	known, ok := f.sums[path]
	f.mu.Unlock()
	if ok && known.size == info.Size() && known.time.Equal(info.ModTime()) {
		return known, true
	}
	file, err := os.Open(path)
	if err != nil {
		return fileSum{}, false
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return fileSum{}, false
	}
	s := fileSum{info.Size(), info.ModTime(), hex.EncodeToString(h.Sum(nil))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sums == nil {
		f.sums = map[string]fileSum{}
	}
	f.sums[path] = s
	return s, true
}

// Find returns where the files of a report are now: where its configuration says, or as
// seen from the report, or beside it; whatever has the right digest. If one is nowhere
// the error says which is wanted.
func (f *Files) Find(reportPath string, list []engine.DataFile) (find func(name string) string, err error) {
	found := map[string]string{}
	dir := reportPath
	if info, err := os.Stat(reportPath); err != nil || !info.IsDir() {
		dir = filepath.Dir(reportPath)
	}
	for _, x := range list {
		there := filepath.FromSlash(x.Path)
		if !filepath.IsAbs(there) {
			there = filepath.Join(dir, there)
		}
		places := slices.Compact([]string{x.Name, there, filepath.Join(dir, filepath.Base(there))})
		others := 0
		for _, path := range places {
			s, ok := f.sumOf(path)
			if ok && s.sum == x.SHA256 {
				found[x.Name] = path
				break
			}
			if ok {
				others++
			}
		}
		if found[x.Name] == "" {
			return nil, wanted(reportPath, x, places, others)
		}
	}
	return func(name string) string { return cmp.Or(found[name], name) }, nil
}

// wanted says which file a report needs that is nowhere.
func wanted(reportPath string, x engine.DataFile, places []string, others int) error {
	problem := "it is not there"
	if others > 0 {
		problem = "what is there is another one now"
	}
	return &config.Error{File: reportPath, Key: "files",
		Problem:  fmt.Sprintf("the run read %s, %d bytes with SHA-256 %s, and %s", x.Name, x.Bytes, x.SHA256, problem),
		Expected: "that file as " + strings.Join(places, " or ")}
}
