// Release builds a release of the current commit: an archive for each system, packages for Debian and RPM, and their
// checksums. Archives and packages contain the program, man pages, completions for shells and the licences of all modules
// in the program. Changes that are not committed have no effect.
//
//	go run ./internal/release [-out DIR] [-targets linux/amd64,...]
//
// Two runs from one commit with one version of Go write the same bytes: times are those of the commit, files are sorted,
// modes and owners are fixed, and the program contains neither paths nor build IDs of the machine.
package main

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const allTargets = "darwin/amd64,darwin/arm64,linux/amd64,linux/arm64,windows/amd64,windows/arm64"

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	out := flag.String("out", "dist", "write the release to this new or empty `DIR`")
	targets := flag.String("targets", allTargets, "build for these systems, as `GOOS/GOARCH`, separated by commas")
	flag.Parse()
	if err := release(*out, strings.Split(*targets, ",")); err != nil {
		log.Fatal(err)
	}
}

// A builder builds one release.
type builder struct {
	commit
	out     string // the folder of the release; absolute
	scratch string // a temporary folder
	source  string // a clone of the commit in scratch, in which all commands run
}

// release builds the release of the current commit for the given targets.
func release(out string, targets []string) (err error) {
	for _, target := range targets {
		if !slices.Contains(strings.Split(allTargets, ","), target) {
			return fmt.Errorf("-targets: %q is not a target; expected some of %s", target, allTargets)
		}
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	if list, err := os.ReadDir(out); err != nil || len(list) > 0 {
		return errors.Join(fmt.Errorf("-out: %s is not empty; expected a new folder", out), err)
	}
	b := &builder{}
	if b.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp("", "release"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	top, err := b.output("git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	source := filepath.Join(b.scratch, "source")
	if _, err := b.output("git", "clone", "--quiet", top, source); err != nil {
		return err
	}
	b.source = source
	if b.commit, err = b.currentCommit(); err != nil {
		return err
	}
	log.Printf("version %s, commit %s of %s", b.version, b.hash, b.time.Format(time.DateOnly))
	shared, err := b.sharedFiles()
	if err != nil {
		return err
	}
	for _, target := range targets {
		if err := b.buildTarget(target, shared); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return writeChecksums(out)
}

// A commit is the commit that a release is built from.
type commit struct {
	hash    string
	time    time.Time // in UTC
	version string    // of a tag v1.2.3: 1.2.3; without a tag: 0.0.0+TIME.HASH
}

// currentCommit returns the commit of the clone.
func (b *builder) currentCommit() (c commit, err error) {
	text, err := b.output("git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return c, err
	}
	hash, seconds, _ := strings.Cut(text, " ")
	unix, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return c, err
	}
	tags, err := b.output("git", "tag", "--points-at", "HEAD", "--list", "v*")
	c = commit{hash: hash, time: time.Unix(unix, 0).UTC()}
	c.version = versionOf(strings.Fields(tags), c)
	return c, err
}

// versionOf returns the version of a commit with the given tags. It is valid for semantic versioning, Debian and RPM.
func versionOf(tags []string, c commit) string {
	for _, tag := range tags {
		if regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(tag) {
			return tag[1:]
		}
	}
	return fmt.Sprintf("0.0.0+%s.%.12s", c.time.Format("20060102150405"), c.hash)
}

// buildTarget builds the program for one system and writes its archive and, for Linux, its packages. shared are
// the other files.
func (b *builder) buildTarget(target string, shared []file) error {
	goos, goarch, _ := strings.Cut(target, "/")
	name := "tui"
	if goos == "windows" {
		name += ".exe"
	}
	path := filepath.Join(b.scratch, goos+"_"+goarch, name)
	if err := b.build(path, []string{"GOOS=" + goos, "GOARCH=" + goarch}); err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := append([]file{{name, program, true}}, shared...)
	base := fmt.Sprintf("wirelab_%s_%s_%s", b.version, goos, goarch)
	write, suffix := writeTarGz, ".tar.gz"
	if goos == "windows" {
		write, suffix = writeZip, ".zip"
	}
	archive, err := write(base, files, b.time)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.out, base+suffix), archive, 0o666); err != nil {
		return err
	}
	log.Printf("%s%s, %d bytes", base, suffix, len(archive))
	if goos != "linux" {
		return nil
	}
	return b.writePackages(goarch, files)
}

// build builds the program as the file path, with further environment variables and flags of go build.
func (b *builder) build(path string, env []string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w -buildid=", "-o", path}, flags...)
	_, err := b.run(append([]string{"CGO_ENABLED=0", "GOAMD64=v1", "GOARM64=v8.0"}, env...), "go", append(args, "./cmd/tui")...)
	return err
}

// sharedFiles returns the files that are the same for all systems, by their names in an archive.
func (b *builder) sharedFiles() ([]file, error) {
	host, manual := filepath.Join(b.scratch, "host"), filepath.Join(b.scratch, "manual")
	if err := errors.Join(os.Mkdir(manual, 0o777), b.build(host, nil, "-tags=manual")); err != nil {
		return nil, err
	}
	if _, err := b.output(host, "manual", manual, b.time.Format(time.DateOnly)); err != nil {
		return nil, err
	}
	var files []file
	for _, x := range []struct{ shell, name string }{
		{"bash", "tui.bash"}, {"zsh", "_tui"}, {"fish", "tui.fish"}, {"powershell", "tui.ps1"},
	} {
		text, err := b.output(host, "completion", x.shell)
		if err != nil {
			return nil, err
		}
		files = append(files, file{"completions/" + x.name, []byte(text + "\n"), false})
	}
	pages, err := os.ReadDir(manual)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{} // path of a file by name in the archive
	for _, page := range pages {
		paths["man/"+page.Name()] = filepath.Join(manual, page.Name())
	}
	for _, name := range []string{"README.md", "CHANGELOG.md", "LICENSE"} {
		paths[name] = filepath.Join(b.source, name)
	}
	for name, path := range paths { // in any order: archives are sorted
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, file{name, data, false})
	}
	licences, err := b.moduleLicences()
	return append(files, file{"LICENSES.txt", licences, false}), err
}

// writeChecksums writes SHA256SUMS, in the format of sha256sum, with all files in a folder.
func writeChecksums(folder string) error {
	list, err := os.ReadDir(folder) // sorted by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, entry := range list {
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return os.WriteFile(filepath.Join(folder, "SHA256SUMS"), []byte(sums.String()), 0o666)
}

// output runs a command in the clone and returns its output without the last newlines.
func (b *builder) output(name string, args ...string) (string, error) {
	return b.run(nil, name, args...)
}

// run is output with further environment variables.
func (b *builder) run(env []string, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = b.source
	cmd.Env = append(append(os.Environ(), "GOFLAGS=-mod=readonly"), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimRight(string(text), "\n"), nil
}
