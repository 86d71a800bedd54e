package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"wirelab/experiment/engine"
	"wirelab/experiment/internal/labtest"
	"wirelab/experiment/report"
	"wirelab/internal/atomicfile"
	"wirelab/internal/atomicfile/faultfs"
	"wirelab/internal/panics"
)

// The session continues while a report is written, however long the disk takes. The report contains
// the session up to the command, and Stop waits for it.
func TestSaveDoesNotBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, saveDoesNotBlock)
}

func saveDoesNotBlock(t *testing.T) {
	gate := make(chan struct{})
	disk := &atomicfile.Disk{Before: func(atomicfile.Op, string) error {
		<-gate
		return nil
	}}
	r := newLab(t, endless(t), Options{Reports: t.TempDir(), Disk: disk})
	r.Start(t.Context())
	began := r.await("a second", func(s *engine.Snapshot) bool { return s.Now > time.Second })
	r.send(Command{Save: new(string)})
	saving := r.await("the report being written", func(s *engine.Snapshot) bool { return s.Saving })
	r.await("virtual time to advance", func(s *engine.Snapshot) bool { return s.Now > saving.Now+500*time.Millisecond })
	r.send(Command{Save: new(string)})
	r.await("the refusal", func(s *engine.Snapshot) bool { return s.Notice.Text == "a report is being saved already" })
	close(gate)
	s := r.await("the report", func(s *engine.Snapshot) bool { return strings.HasPrefix(s.Notice.Text, "saved as ") })
	if s.Saved < began.Now || s.Saved > saving.Now || s.Saving {
		t.Errorf("saved up to %v, commanded between %v and %v", s.Saved, began.Now, saving.Now)
	}
	r.send(Command{Save: new(string)})
	r.await("the second", func(s *engine.Snapshot) bool { return s.Saving || s.Saved > saving.Now })
	r.Stop()
	if list, _ := filepath.Glob(filepath.Join(r.opt.Reports, "*", "report.json")); len(list) != 2 {
		t.Errorf("%v", list)
	}
}

// A report that is being written while the run restarts or goes back does not count as a save of
// the new run.
func TestSaveDuringRestart(t *testing.T) {
	t.Parallel()
	back := time.Second
	for name, c := range map[string]struct {
		leave Command
		want  time.Duration // how much of the new run the report contains
	}{
		"another seed": {change("seed", 99), 0},
		"back to 1 s":  {Command{Seek: &back}, back},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := make(chan struct{})
			disk := &atomicfile.Disk{Before: func(atomicfile.Op, string) error {
				<-gate
				return nil
			}}
			r := newLab(t, endless(t), Options{Reports: t.TempDir(), Disk: disk})
			if err := r.current.RunUntil(3 * time.Second); err != nil {
				t.Fatal(err)
			}
			r.handleCommand(t.Context(), Command{Save: new(string)})
			r.handleCommand(t.Context(), c.leave)
			if c.leave.Seek != nil {
				r.finishPast(t.Context())
			}
			close(gate)
			r.finishSave()
			if !strings.HasPrefix(r.notice.Text, "saved as ") || r.saved != c.want {
				t.Errorf("%q; saved up to %v, want %v", r.notice.Text, r.saved, c.want)
			}
		})
	}
}

// A panic in the goroutine that writes a report ends the session with an error that contains the
// stack; so does a panic in Save.
func TestPanicWhileSaving(t *testing.T) {
	t.Parallel()
	synctest.Test(t, panicWhileSaving)
}

func panicWhileSaving(t *testing.T) {
	disk := &atomicfile.Disk{Before: func(atomicfile.Op, string) error { panic("boom") }}
	r := newLab(t, endless(t), Options{Reports: t.TempDir(), Disk: disk})
	r.Start(t.Context())
	r.send(Command{Save: new(string)})
	broken := r.await("the panic", func(s *engine.Snapshot) bool { return s.State == engine.Broken })
	check := func(err error) {
		t.Helper()
		var bug *panics.Error
		if !errors.As(err, &bug) || bug.Value != "boom" || !strings.Contains(err.Error(), "panicWhileSaving") {
			t.Errorf("%v, want the panic with its stack", err)
		}
	}
	check(broken.Err)
	r.Stop()
	_, err := r.Save("")
	check(err)
}

// A report whose writing panics leaves no folder.
func TestPanicLeavesNoFolder(t *testing.T) {
	r := newLab(t, labtest.QuickConfig(t), Options{})
	dir := filepath.Join(t.TempDir(), "reports")
	path, err := r.writeReport(dir, "name", func(*atomicfile.Folder) error { panic("boom") })
	if _, statErr := os.Stat(dir); path != "" || !errors.As(err, new(*panics.Error)) || statErr == nil {
		t.Errorf("%q, %v; the folder exists: %v", path, err, statErr == nil)
	}
}

// A report that is saved automatically has a name that says so, and replaces the eleventh newest of its kind.
func TestAutomaticReportsArePruned(t *testing.T) {
	stamp := ""
	r := newLab(t, labtest.QuickConfig(t), Options{Reports: t.TempDir(), Stamp: func() string { return stamp }})
	r.Stop()
	for i := range 12 {
		stamp = fmt.Sprintf("2026-01-02-1000%02d", i)
		if _, err := r.Save(""); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.opt.Reports, "2026-01-02-1000*-autosave-*", "report.json"))
	if err != nil || len(left) != 10 {
		t.Errorf("%q, %v", left, err)
	}
}

// A save of the dashboard creates a complete folder, or none.
func TestSaveFaults(t *testing.T) {
	r := newLab(t, labtest.QuickConfig(t), Options{})
	if err := r.current.RunUntil(time.Second); err != nil {
		t.Fatal(err)
	}
	r.Stop()
	digest := r.session().Result().Digest
	faultfs.Each(t, func(t *testing.T, d *faultfs.Failing, crash bool) {
		dir := filepath.Join(t.TempDir(), "reports")
		r.opt.Disk = &d.Disk
		_, err := r.Save(dir)
		files, left := faultfs.Tree(t, filepath.Dir(dir))
		if err != nil && (!strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), faultfs.Cause.Error())) {
			t.Errorf("%v does not name %s and the cause", err, dir)
		}
		if !crash && len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
		if err == nil && len(files) != 6 || len(files) != 0 && len(files) != 6 {
			t.Errorf("%v, and %d files", err, len(files))
		}
		for name, text := range files {
			if ext := filepath.Ext(name); ext != ".csv" && ext != ".toml" && !strings.Contains(text, digest) {
				t.Errorf("%s is of another moment", name)
			}
		}
		list, listErr := report.SavedReports(dir)
		if want := len(files) / 6; listErr != nil || len(list) != want {
			t.Errorf("the list has %d reports, %v", len(list), listErr)
		}
		if folders, _ := os.ReadDir(dir); !crash && len(files) == 0 && len(folders) > 0 {
			t.Errorf("an empty folder is left: %v", folders)
		}
	})
}
