package experiment

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"wirelab/dataset/whole"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// maxSeek bounds how far one jump goes.
const maxSeek = time.Hour

// seek sets out for t without pacing; backwards by playing the session anew with
// all the changes that were made before t.
func (r *Runner) seek(t time.Duration) error {
	now := r.session.Now()
	if t < 0 || t > now+maxSeek {
		return fmt.Errorf("seek to %v makes no sense; expected 0 to %v ahead", t, maxSeek)
	}
	if t < now {
		again, err := r.rewound(t)
		if err != nil {
			return err
		}
		err = r.session.Close()
		r.session, r.refused = again, 0
		if err != nil {
			return err
		}
	}
	r.seeking, r.jump = t, true
	return nil
}

// clockText writes a virtual time as the dashboard's clock does.
func clockText(d time.Duration) string {
	return fmt.Sprintf("%02d:%04.1f", int(d/time.Minute), (d % time.Minute).Seconds())
}

// rewound opens the session again and puts what was done before it.
func (r *Runner) rewound(t time.Duration) (*engine.Session, error) {
	s, err := r.open()
	if err != nil {
		return nil, err
	}
	s.ReplayChanges(r.session.Log(), t)
	return s, nil
}

// Save writes a report of the session as it stands into a new folder below dir,
// or below the default one if dir is empty. Call it only after Stop: while the
// session runs, send a Command instead.
func (r *Runner) Save(dir string) (path string, err error) {
	select {
	case <-r.done:
	default:
		return "", errors.New("the session is still running: stop it first, or send a Command")
	}
	defer func() {
		if p := recover(); p != nil && r.broken {
			err = fmt.Errorf("what the lab measured before it broke cannot be saved: %v", p)
		}
	}()
	return r.save(dir, engine.Interrupted)
}

// save writes what the session remembers: every change and all sums, and of
// samples and packets the last five minutes. why is the reason if nothing else ended it.
func (r *Runner) save(dir string, why engine.Ending) (string, error) {
	if dir == "" {
		dir = r.opt.Reports
	}
	if dir == "" {
		return "", errors.New("no folder for reports was named")
	}
	name := r.session.Config().Encoder.Name
	if r.opt.Stamp != nil {
		name = r.opt.Stamp() + "-" + name
	}
	path, folder, made, err := freshDir(r.opt.Disk, dir, name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", report.ErrWrite, err)
	}
	result := r.session.Result()
	result.Planned, result.Reason = 1, why
	switch {
	case r.err != nil:
		result.Reason, result.Error = engine.BadData, r.err.Error()
	case r.session.Done():
		result.Reason = engine.Finished
	}
	out := &report.Exporter{Folder: folder, Files: r.files, Samples: r.session.Samples(), Packets: r.session.Packets()}
	r.session.Troubles(func(o *engine.Opened) { out.Trouble(o, r.session.Config()) })
	if err := out.Write(result); err != nil {
		r.opt.Disk.RemoveEmpty(made)
		return "", err
	}
	return path, nil
}

// freshDir makes a folder called name below dir, or name-2, name-3 and so on. made are
// all the folders that it made.
func freshDir(disk *whole.Disk, dir, name string) (path string, folder *whole.Folder, made []string, err error) {
	if made, err = disk.MkdirAll(dir); err != nil {
		return "", nil, nil, err
	}
	for n := 1; ; n++ {
		path = filepath.Join(dir, name)
		if n > 1 {
			path += "-" + strconv.Itoa(n)
		}
		if err = disk.NewDir(path); err == nil {
			made = append(made, path)
			folder, err = report.OpenFolder(disk, path, false)
		} else if errors.Is(err, os.ErrExist) && n <= 1000 {
			continue
		}
		if err != nil {
			disk.RemoveEmpty(made)
		}
		return path, folder, made, err
	}
}
