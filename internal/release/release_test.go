package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"testing"
	"time"
)

var testTime = time.Date(2026, 11, 26, 15, 4, 6, 0, time.UTC)

// TestArchives checks that archives do not depend on the order of the files, and reads them again: names in order, with the
// time of the commit, fixed modes and owners.
func TestArchives(t *testing.T) {
	files := []file{{"tui", []byte("program"), true}, {"man/tui.1", []byte("page"), false}, {"LICENSE", []byte("MIT\n"), false}}
	reversed := []file{files[2], files[1], files[0]}
	want := []string{"x/LICENSE 644 MIT\n", "x/man/tui.1 644 page", "x/tui 755 program"}
	for _, write := range []func(string, []file, time.Time) ([]byte, error){writeTarGz, writeZip} {
		a, errA := write("x", files, testTime)
		b, errB := write("x", reversed, testTime)
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%v, %v, or the archives differ", errA, errB)
		}
		var got []string
		if zipped, err := zip.NewReader(bytes.NewReader(a), int64(len(a))); err == nil {
			got = zipEntries(t, zipped)
		} else {
			got = tarEntries(t, a)
		}
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("entries %q, want %q", got, want)
			}
		}
	}
}

func tarEntries(t *testing.T, data []byte) (list []string) {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if plain.Name != "" || !plain.ModTime.IsZero() {
		t.Errorf("the archive has a name or a time: %+v", plain.Header)
	}
	r := tar.NewReader(plain)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		text, errRead := io.ReadAll(r)
		if err != nil || errRead != nil {
			t.Fatal(err, errRead)
		}
		if !h.ModTime.Equal(testTime) || h.Uid != 0 || h.Gid != 0 || h.Uname != "root" || h.Gname != "root" {
			t.Errorf("%+v", h)
		}
		list = append(list, entryText(h.Name, h.Mode, text))
	}
}

func zipEntries(t *testing.T, z *zip.Reader) (list []string) {
	t.Helper()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil || !f.Modified.Equal(testTime) {
			t.Errorf("%s: %v, %v", f.Name, f.Modified, err)
		}
		list = append(list, entryText(f.Name, int64(f.Mode()), text))
	}
	return list
}

func entryText(name string, mode int64, content []byte) string {
	return fmt.Sprintf("%s %o %s", name, mode, content)
}

func TestVersion(t *testing.T) {
	c := commit{hash: "0123456789abcdef0123456789abcdef01234567", time: testTime}
	for _, x := range []struct {
		tags []string
		want string
	}{
		{nil, "0.0.0+20261126150406.0123456789ab"}, {[]string{"v1.2"}, "0.0.0+20261126150406.0123456789ab"},
		{[]string{"vnext", "v1.20.3"}, "1.20.3"}, {[]string{"v1.2.3-rc1", "v1.2.3"}, "1.2.3"},
	} {
		if got := versionOf(x.tags, c); got != x.want {
			t.Errorf("%v: %s, want %s", x.tags, got, x.want)
		}
	}
}

func TestPackagePaths(t *testing.T) {
	for _, x := range [][3]string{
		{"tui", "deb", "/usr/bin/tui"}, {"man/tui-run.1", "rpm", "/usr/share/man/man1/tui-run.1.gz"},
		{"completions/_tui", "deb", "/usr/share/zsh/vendor-completions/_tui"}, {"completions/_tui", "rpm", "/usr/share/zsh/site-functions/_tui"},
		{"completions/tui.ps1", "deb", ""}, {"CHANGELOG.md", "rpm", "/usr/share/doc/wirelab/CHANGELOG.md"},
	} {
		if got := packagePath(x[0], x[1]); got != x[2] {
			t.Errorf("%s in a %s: %q, want %q", x[0], x[1], got, x[2])
		}
	}
}

// The licences of a package are in its folder or in one above it, up to that of the module.
func TestLicenceFolders(t *testing.T) {
	got := map[string]string{}
	addFolders(got, "m@v1", "/mod/m@v1", "/mod/m@v1/a/b")
	addFolders(got, "n@v2", "/mod/n@v2", "/mod/n@v2")
	want := map[string]string{"/mod/m@v1": "m@v1", "/mod/m@v1/a": "m@v1/a", "/mod/m@v1/a/b": "m@v1/a/b", "/mod/n@v2": "n@v2"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
