package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"wirelab/cmd/tui/internal/ui"
	"wirelab/experiment/engine"
	"wirelab/experiment/report"
)

// filmFlags are the flags of tui replay for a recording of the dashboard in virtual time.
type filmFlags struct {
	file  string // "" for no recording
	page  int    // of the dashboard, from 1
	size  string // of the terminal, such as "120x36"
	image string // file for the last frame as SVG; "" for none
	timed bool   // measure durations, which differ between two films of a report
}

// A filmFile is a recording of the dashboard in a file. It begins with the first snapshot. A nil filmFile does
// nothing.
type filmFile struct {
	page, w, h  int
	cast, image *os.File // image is nil if no image is wanted
	film        *ui.Film // nil before the first snapshot
	err         error    // of writing
}

// open creates the files that the flags name; nil if they name none. path is the report to replay, which must
// have a single run.
func (f *filmFlags) open(path string) (*filmFile, error) {
	if f.file == "" {
		if f.image != "" || f.timed {
			return nil, usagef("--image and --measure expect --cast FILE")
		}
		return nil, nil
	}
	film := &filmFile{page: f.page}
	if n, err := fmt.Sscanf(f.size, "%dx%d", &film.w, &film.h); n != 2 || err != nil || f.size != fmt.Sprintf("%dx%d", film.w, film.h) ||
		film.w < 60 || film.w > 400 || film.h < 18 || film.h > 200 {
		return nil, usagef("--size %q: expected COLUMNSxROWS from 60x18 to 400x200, such as 160x48", f.size)
	}
	doc, err := report.Read(path)
	if err != nil {
		return nil, err
	}
	if len(doc.Runs) != 1 {
		return nil, usagef("--cast: %s has %d runs; expected a report of a single run", path, len(doc.Runs))
	}
	const lastPage, crowdPage = 5, 8 // page 6 shows the reports of this machine
	switch isCrowd := doc.Runs[0].Totals.Crowd != nil; {
	case isCrowd && (f.page == crowdPage || f.page >= 1 && f.page <= lastPage):
		film.page = crowdPage // the only page with figures of a crowd
	case f.page < 1 || f.page > lastPage:
		return nil, usagef("--page %d: expected 1 to %d, or %d for a crowd", f.page, lastPage, crowdPage)
	}
	if film.cast, err = createCast(f.file); err == nil && f.image != "" {
		film.image, err = createCast(f.image)
	}
	return film, err
}

// show appends the frame of a snapshot.
func (f *filmFile) show(snap *engine.Snapshot) {
	if f.film == nil {
		f.film = ui.NewFilm(f.cast, snap, f.page, f.w, f.h, ui.Options{Charts: "fine"})
	}
	if f.err == nil {
		f.err = f.film.Show(snap)
	}
}

// close completes the files, and returns the first error.
func (f *filmFile) close() error {
	if f == nil {
		return nil
	}
	var image io.Writer
	if f.image != nil {
		image = f.image
	}
	if f.film != nil {
		f.err = errors.Join(f.err, f.film.Close(image))
	}
	if f.image != nil {
		f.err = errors.Join(f.err, f.image.Close())
	}
	return errors.Join(f.err, f.cast.Close())
}
