package plugin

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A File is a file of a template.
type File struct {
	Name       string // path relative to the folder of the template, with slashes
	Data       []byte // contents
	Executable bool   // the file is executable
}

//go:embed wirelab.h templates/c/build templates/c/README.md templates/c/encoder.c
//go:embed templates/cpp/build templates/cpp/README.md templates/cpp/encoder.cpp
//go:embed templates/rust/build templates/rust/README.md templates/rust/Cargo.toml.txt templates/rust/src/encoder.rs
//go:embed templates/go/build templates/go/README.md templates/go/go.mod.txt templates/go/encoder.go.txt templates/go/wirelab.go.txt
//go:embed templates/go/module.go.txt templates/go/process.go.txt PROCESS.md templates/python/README.md templates/python/NAME.py.txt
var embedded embed.FS

// Languages returns the names of the languages that have a template.
func Languages() []string { return []string{"c", "cpp", "rust", "go", "python"} }

// Template returns the files of an example encoder in one of the Languages. The files are everything that
// is needed to build it except for the compiler. name is the name of the encoder; it replaces NAME in the
// names and contents of the files. The suffix .txt, which keeps Go tools from using the embedded files, is
// removed from their names.
func Template(lang, name string) ([]File, error) {
	if !slices.Contains(Languages(), lang) {
		return nil, fmt.Errorf("--lang %q is unknown; expected one of %s", lang, strings.Join(Languages(), ", "))
	}
	if !codecName.MatchString(name) {
		return nil, fmt.Errorf("%q is not a valid encoder name; expected a lower-case letter, then a-z, 0-9 and -, "+
			"at most 40 characters", name)
	}
	root := path.Join("templates", lang)
	var list []File
	err := fs.WalkDir(embedded, root, func(source string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := embedded.ReadFile(source)
		if err != nil {
			return err
		}
		text = bytes.ReplaceAll(text, []byte("NAME"), []byte(name))
		file := strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(source, root+"/"), ".txt"), "NAME", name)
		list = append(list, File{Name: file, Data: text, Executable: path.Base(file) == "build"})
		return nil
	})
	if contract := map[string]string{"c": "wirelab.h", "cpp": "wirelab.h", "python": "PROCESS.md"}[lang]; contract != "" && err == nil {
		var text []byte
		text, err = embedded.ReadFile(contract)
		list = append(list, File{Name: contract, Data: text})
	}
	return list, err
}
