package main

import (
	"cmp"
	"fmt"
	"log"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// packagePath returns the path of a file of an archive in a package of the given format, deb or rpm; "" if packages do not
// contain the file.
func packagePath(name, format string) string {
	folder, base := path.Split(name)
	switch {
	case name == "tui":
		return "/usr/bin/tui"
	case folder == "man/":
		return "/usr/share/man/man1/" + base + ".gz"
	case name == "completions/tui.bash":
		return "/usr/share/bash-completion/completions/tui"
	case name == "completions/tui.fish":
		return "/usr/share/fish/vendor_completions.d/tui.fish"
	case name == "completions/_tui" && format == "deb":
		return "/usr/share/zsh/vendor-completions/_tui"
	case name == "completions/_tui":
		return "/usr/share/zsh/site-functions/_tui"
	case folder == "completions/": // of PowerShell
		return ""
	case name == "LICENSE":
		return "/usr/share/doc/wirelab/copyright" // the name that Debian demands
	}
	return "/usr/share/doc/wirelab/" + name
}

// writePackages writes a package for Debian and one for RPM with nFPM.
func (b *builder) writePackages(goarch string, files []file) error {
	for _, format := range []string{"deb", "rpm"} {
		folder := filepath.Join(b.scratch, format+"_"+goarch)
		if err := os.Mkdir(folder, 0o777); err != nil {
			return err
		}
		var config strings.Builder
		stamp := b.time.Format(time.RFC3339)
		fmt.Fprintf(&config, packageHeader, goarch, b.version, stamp)
		for i, f := range sortedFiles(files) {
			target := packagePath(f.name, format)
			if target == "" {
				continue
			}
			data, err := f.data, error(nil)
			if strings.HasSuffix(target, ".gz") {
				data, err = gzipped(data)
			}
			source := filepath.Join(folder, fmt.Sprint(i))
			if err == nil {
				err = os.WriteFile(source, data, 0o666)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(&config, "  - {src: %q, dst: %q, file_info: {mode: %#o, owner: root, group: root, mtime: %s}}\n", source, target, f.mode(), stamp)
		}
		file := filepath.Join(folder, "nfpm.yaml")
		if err := os.WriteFile(file, []byte(config.String()), 0o666); err != nil {
			return err
		}
		name := fmt.Sprintf("wirelab_%s_linux_%s.%s", b.version, goarch, format)
		_, err := b.run([]string{fmt.Sprint("SOURCE_DATE_EPOCH=", b.time.Unix())}, "go", "tool", "-modfile=internal/release/tools.mod", "nfpm", "package",
			"--config", file, "--packager", format, "--target", filepath.Join(b.out, name))
		if err != nil {
			return err
		}
		log.Print(name)
	}
	return nil
}

// packageHeader is the beginning of the configuration of nFPM: architecture, version and time follow.
const packageHeader = `name: wirelab
arch: %s
platform: linux
version: %q
version_schema: none
mtime: %s
maintainer: The Wirelab authors <wirelab@localhost>
description: |
  Terminal lab for game networking
  A sender and a receiver exchange game state over a modelled bad network.
section: devel
license: MIT
rpm:
  buildhost: wirelab
contents:
`

// moduleLicences returns the licences of Go and of all modules in the program, on any system, sorted by title.
func (b *builder) moduleLicences() ([]byte, error) {
	folders, err := b.licenceFolders()
	if err != nil {
		return nil, err
	}
	embedded, err := b.output("git", "ls-files", "*.LICENSE")
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	byTitle := func(x, y string) int { return cmp.Or(cmp.Compare(folders[x], folders[y]), cmp.Compare(x, y)) }
	for _, folder := range slices.SortedFunc(maps.Keys(folders), byTitle) {
		list, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, entry := range list {
			if licenceName.MatchString(entry.Name()) && !entry.IsDir() {
				if err := appendLicence(&out, folders[folder], filepath.Join(folder, entry.Name())); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, name := range strings.Fields(embedded) {
		if err := appendLicence(&out, name, filepath.Join(b.source, name)); err != nil {
			return nil, err
		}
	}
	return []byte(out.String()), nil
}

// licenceFolders returns the folders in which there may be licences, with a title for each: the folders of Go, of the
// modules, and of their packages, because parts of a module may be by other authors.
func (b *builder) licenceFolders() (titles map[string]string, err error) {
	goroot, err := b.output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	titles = map[string]string{goroot: "Go"}
	for _, goos := range []string{"darwin", "linux", "windows"} {
		text, err := b.run([]string{"GOOS=" + goos, "CGO_ENABLED=0"}, "go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", "./cmd/tui")
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text) {
			// A line is empty for packages of Go and of the main module.
			if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 3 {
				addFolders(titles, fields[0], fields[1], fields[2])
			}
		}
	}
	return titles, nil
}

// addFolders adds the folder of a package, and all above it up to the folder of its module. Titles begin with that of the
// module.
func addFolders(titles map[string]string, moduleTitle, module, folder string) {
	for len(folder) > len(module) {
		titles[folder] = moduleTitle + filepath.ToSlash(strings.TrimPrefix(folder, module))
		folder = filepath.Dir(folder)
	}
	titles[module] = moduleTitle
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)`)

// appendLicence appends a licence with a title.
func appendLicence(out *strings.Builder, title, path string) error {
	text, err := os.ReadFile(path)
	fmt.Fprintf(out, "==== %s: %s\n\n%s\n\n", title, filepath.Base(path), strings.TrimSpace(string(text)))
	return err
}
