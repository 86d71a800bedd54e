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

// Reports that are saved automatically have a name that says so, and only the last ten are kept.
// Reports that the user saved or renamed are not removed.
func TestAutomaticReportsArePruned(t *testing.T) {
	dir := t.TempDir()
	folder := func(name string, at int) {
		path := filepath.Join(dir, name, "report.json")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Unix(int64(at), 0), time.Unix(int64(at), 0)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		folder("2026-01-01-1000"+string(rune('0'+i/10))+string(rune('0'+i%10))+"-autosave-rotor", i)
	}
	folder("2026-01-01-100000-rotor", 0)
	folder("my autosave-rotor", 0)
	r := newLab(t, labtest.QuickConfig(t), Options{Reports: dir, Stamp: func() string { return "2026-01-02-100000" }})
	r.Stop()
	path, err := r.Save("")
	if err != nil || !strings.HasPrefix(filepath.Base(path), "2026-01-02-100000-autosave-") {
		t.Fatalf("%s, %v", path, err)
	}
	checkThere(t, dir, map[string]bool{"2026-01-01-100000-autosave-rotor": false, "2026-01-01-100002-autosave-rotor": false,
		"2026-01-01-100003-autosave-rotor": true, "2026-01-01-100000-rotor": true, "my autosave-rotor": true, filepath.Base(path): true})
}

// checkThere checks which folders exist in dir.
func checkThere(t *testing.T, dir string, want map[string]bool) {
	t.Helper()
	for name, want := range want {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}

// If the clock of the system is set back, the reports saved after that are older by name and by time
// than those before. They are kept all the same, up to ten.
func TestAutomaticReportsAfterTheClockWentBack(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	stamp := ""
	save := func() string {
		r := newLab(t, labtest.QuickConfig(t), Options{Reports: dir, Stamp: func() string { return stamp }})
		r.Stop()
		path, err := r.Save("")
		if err != nil {
			t.Fatal(err)
		}
		return filepath.Base(path)
	}
	want := map[string]bool{}
	for i := range 10 { // saved by a clock that was an hour ahead
		stamp = fmt.Sprintf("2026-01-01-11000%d", i)
		name := save()
		later := now.Add(time.Hour + time.Duration(i)*time.Second)
		if err := os.Chtimes(filepath.Join(dir, name, "report.json"), later, later); err != nil {
			t.Fatal(err)
		}
		want[name] = true
	}
	for i := range 12 {
		stamp = fmt.Sprintf("2026-01-01-1000%02d", i)
		name := save()
		earlier := now.Add(time.Duration(i-20) * time.Second)
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Fatalf("the report that was just saved is gone: %v", err)
		}
		if err := os.Chtimes(filepath.Join(dir, name, "report.json"), earlier, earlier); err != nil {
			t.Fatal(err)
		}
		want[name] = i >= 2
	}
	checkThere(t, dir, want)
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
