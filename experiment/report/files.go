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

// Files records the data files that runs read, so that a report can list them with their SHA-256. It is
// safe for use by several goroutines. List may be called on a nil Files.
type Files struct {
	mu     sync.Mutex
	names  []string
	hashes map[string]fileHash // by path
}

// fileHash caches the hash of a file, which is valid while size and time are unchanged.
type fileHash struct {
	size int64
	time time.Time // of the last modification
	sum  string    // SHA-256 in hexadecimal
}

// Note records that the file called name is read, and returns name. It can be used as
// config.Config.ResolvePath.
func (f *Files) Note(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.names, name) {
		f.names = append(f.names, name)
	}
	return name
}

// List returns the data files that Note recorded, sorted by name, with their paths relative to dir. Files that
// are not regular or cannot be read are left out. f may be nil.
func (f *Files) List(dir string) []engine.DataFile {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	names := slices.Clone(f.names)
	f.mu.Unlock()
	var list []engine.DataFile
	for _, name := range names {
		if s, ok := f.hashOf(name); ok {
			list = append(list, engine.DataFile{Name: name, Path: RelativePath(dir, name), Bytes: s.size, SHA256: s.sum})
		}
	}
	slices.SortFunc(list, func(a, b engine.DataFile) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// RelativePath returns the path of file name relative to dir, with slashes; the absolute path if there is no
// relative one.
func RelativePath(dir, name string) string {
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

// hashOf returns the size and the SHA-256 of a file, from the cache if size and time are unchanged. It
// returns false if the file cannot be read or is not a regular file. It does not hold f.mu while reading,
// which may take long.
func (f *Files) hashOf(path string) (fileHash, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return fileHash{}, false
	}
	f.mu.Lock()
	known, ok := f.hashes[path]
	f.mu.Unlock()
	if ok && known.size == info.Size() && known.time.Equal(info.ModTime()) {
		return known, true
	}
	file, err := os.Open(path)
	if err != nil {
		return fileHash{}, false
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return fileHash{}, false
	}
	s := fileHash{info.Size(), info.ModTime(), hex.EncodeToString(h.Sum(nil))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hashes == nil {
		f.hashes = map[string]fileHash{}
	}
	f.hashes[path] = s
	return s, true
}

// Find locates the data files of a saved report by their SHA-256. It tries the path in the
// configuration, the path relative to the report, and the report's folder. The returned function maps
// the name of a file in the configuration to its current path. Find returns an error for the first file
// that it does not find.
func (f *Files) Find(reportPath string, list []engine.DataFile) (find func(name string) string, err error) {
	found := map[string]string{}
	dir := reportPath
	if info, err := os.Stat(reportPath); err != nil || !info.IsDir() {
		dir = filepath.Dir(reportPath)
	}
	for _, x := range list {
		relative := filepath.FromSlash(x.Path)
		if !filepath.IsAbs(relative) {
			relative = filepath.Join(dir, relative)
		}
		inReportFolder := filepath.Join(dir, filepath.Base(relative))
		candidates := slices.Compact([]string{x.Name, relative, inReportFolder})
		others := 0 // candidates with other content
		for _, path := range candidates {
			s, ok := f.hashOf(path)
			if ok && s.sum == x.SHA256 {
				found[x.Name] = path
				break
			}
			if ok {
				others++
			}
		}
		if found[x.Name] == "" {
			return nil, missingFileError(reportPath, x, candidates, others)
		}
	}
	return func(name string) string { return cmp.Or(found[name], name) }, nil
}

// missingFileError returns the error of a data file that was not found at any of the candidate paths.
// others is the number of candidates with other content.
func missingFileError(reportPath string, x engine.DataFile, candidates []string, others int) error {
	problem := "the file does not exist"
	if others > 0 {
		problem = "the file has changed"
	}
	return &config.Error{File: reportPath, Key: "files",
		Problem:  fmt.Sprintf("the run read %s, %d bytes with SHA-256 %s, and %s", x.Name, x.Bytes, x.SHA256, problem),
		Expected: "that file as " + strings.Join(candidates, " or ")}
}
