// Package openfile recognises the files that the program opens, finds those near by, and remembers those that were
// opened before.
package openfile

import (
	"bytes"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"wirelab/dataset"
	"wirelab/dataset/source"
	"wirelab/dataset/text"
)

// Kind is what a file is opened as.
type Kind uint8

const (
	Data        Kind = iota // frames for a new run
	LinkCapture             // a capture in CSV, to which a link is fitted
	Report                  // a saved report
	Config                  // a configuration for a new run
)

// expectedFile describes what can be opened, for errors.
const expectedFile = "a recording, a capture, a demo, a log, a configuration or a report"

// reportName is the file of a report's folder that contains the results.
const reportName = "report.json"

// Recognise returns what the file or folder at path is opened as. The specification of a source, such as world, is
// Data.
func Recognise(path string) (Kind, error) {
	kind, _, err := recognise(path)
	return kind, err
}

// recognise is Recognise. It also returns the kind of Data.
func recognise(path string) (kind Kind, data dataset.Kind, err error) {
	info, err := os.Stat(path)
	switch {
	case strings.HasSuffix(path, ".toml"):
		return Config, data, nil
	case err != nil && !strings.Contains(path, ":") && dataset.KindName(path) == "file": // no kind of source has this name
		return Data, data, &source.Error{File: path, Problem: "does not exist", Expected: expectedFile, Kind: os.ErrNotExist}
	case err != nil:
		return Data, data, nil
	case info.IsDir() && isFile(ReportPath(path)):
		return Report, data, nil
	case info.IsDir():
		return Data, data, &source.Error{File: path, Problem: "is a folder without a report.json", Expected: expectedFile,
			Kind: dataset.ErrFormat}
	}
	data, head, err := dataset.Recognise(path)
	firstLine, _, _ := bytes.Cut(head, []byte("\n"))
	isObject := bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
	switch {
	case isObject && bytes.Contains(head, []byte(`"digest_version":`)):
		return Report, data, nil
	case err == nil && bytes.Contains(firstLine, []byte("send_us")):
		return LinkCapture, data, nil
	case data.Name == text.Kind.Name: // most texts near by are no data
		err = &source.Error{File: path, Problem: "looks like a text", Kind: dataset.ErrFormat,
			Expected: expectedFile + ", or text:" + path + " for its text as messages"}
	}
	return Data, data, err
}

// isFile reports whether a regular file is at path.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ReportPath returns the path of the results of a report, of which path may be the folder.
func ReportPath(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, reportName)
	}
	return path
}

// ParsePath returns the path in a typed or pasted text: the text itself, or what it is without quotes, as a file:// URL,
// without backslashes before blanks, or with ~ for the home folder. The first of these at which a file exists is the
// result; if none exists, exists is false and the result is the text.
func ParsePath(text string) (path string, exists bool) {
	text = strings.TrimSpace(text)
	forms := []string{text}
	for _, quote := range []string{"'", `"`} {
		if inner, ok := strings.CutPrefix(text, quote); ok {
			forms = append(forms, strings.TrimSuffix(inner, quote))
		}
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		forms = append(forms, u.Path)
	}
	forms = append(forms, unescape(text))
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		forms = append(forms, filepath.Join(homeFolder(), rest))
	}
	for _, form := range forms {
		if _, err := os.Stat(form); err == nil {
			return form, true
		}
	}
	return text, false
}

// unescape removes the backslashes with which a shell escapes other characters.
func unescape(text string) string {
	var b strings.Builder
	escaped := false
	for _, r := range text {
		isEscape := r == '\\' && !escaped
		if !isEscape {
			b.WriteRune(r)
		}
		escaped = isEscape
	}
	return b.String()
}

// homeFolder returns the home folder of the user; "" if unknown.
func homeFolder() string {
	home, _ := os.UserHomeDir()
	return home
}

// Completer completes typed paths. It keeps the listing of the newest folder, so that it is not read at each key.
type Completer struct {
	folder string
	names  []string // of the entries of folder; folders end in a slash
}

// Complete returns the paths in the folder of a typed path that may replace it. Hidden files are among them only if the
// typed name begins with a dot.
func (c *Completer) Complete(typed string) (paths []string) {
	cut := strings.LastIndexByte(typed, '/') + 1
	folder, name := typed[:cut], typed[cut:]
	if c.names == nil || c.folder != folder {
		c.folder = folder
		c.names = listFolder(folder)
	}
	for _, n := range c.names {
		if strings.HasPrefix(n, ".") == strings.HasPrefix(name, ".") {
			paths = append(paths, folder+n)
		}
	}
	return paths
}

// listFolder returns the names in a folder, "" for the current one; folders end in a slash.
func listFolder(folder string) []string {
	if rest, ok := strings.CutPrefix(folder, "~/"); ok {
		folder = filepath.Join(homeFolder(), rest)
	}
	names := []string{}
	for _, e := range readFolder(folder, maxEntries) {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}
