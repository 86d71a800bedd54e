package lossmodel

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// KeyInfo describes one key that can be set on a link.
type KeyInfo = setting.KeyInfo

// ParamInfo describes a parameter of a loss model.
type ParamInfo = setting.ParamInfo

// KeyError describes what could not be set, and what was expected. It wraps setting.ErrUnknown or
// setting.ErrValue.
type KeyError = setting.KeyError

// keyRow is a key of a Spec.
type keyRow struct {
	setting.Row[Spec]
	file  func(*Spec) *tracefile.File // of a key that names a file
	reads *tracefile.Kind             // the format of that file
}

// newKey returns the key that keeps a value of unit u in a field.
func newKey[T comparable](u setting.Unit[T], field func(*Spec) *T, info KeyInfo) keyRow {
	return newComputed(u,
		func(s *Spec) T { return *field(s) },
		func(s *Spec, v T) { *field(s) = v }, info)
}

// newComputed returns a key whose value is not simply a field.
func newComputed[T comparable](u setting.Unit[T], get func(*Spec) T, put func(*Spec, T), info KeyInfo) keyRow {
	return keyRow{Row: setting.NewRow(u, get, put, info)}
}

// newFile returns the key that names a file; timed says that by=time makes sense.
func newFile(reads *tracefile.Kind, what string, timed bool, field func(*Spec) *tracefile.File, info KeyInfo) keyRow {
	k := newKey(tracefile.Unit(what, timed), field, info)
	k.file, k.reads = field, reads
	return k
}

// Keys lists the keys: those of loss, then in the order of the stages. The slices
// within are shared: read them only.
func Keys() []KeyInfo {
	infos := make([]KeyInfo, len(stages().keys))
	for i, k := range stages().keys {
		infos[i] = k.KeyInfo
	}
	return infos
}

// pin opens the files that a spec names and notes their hashes in it.
func pin(files *tracefile.Library, s Spec) (Spec, error) {
	if m, ok := s.Loss.(loss.FileModel); ok {
		opened, err := m.Open(files)
		if err != nil {
			return s, &FileError{"loss", err}
		}
		s.Loss = opened
	}
	for _, k := range stages().keys {
		if k.file == nil || k.file(&s).Path == "" {
			continue
		}
		f, err := files.Open(*k.file(&s), k.reads)
		if err != nil {
			return s, &FileError{k.Key, err}
		}
		*k.file(&s) = f
	}
	return s, nil
}

// FileError says which key names a file that cannot be used, and why.
type FileError struct {
	Key string
	Err error
}

// Error puts it in one sentence.
func (e *FileError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns why.
func (e *FileError) Unwrap() error { return e.Err }

// Pin reads the files that s names and returns s with the hash of each, so that
// a report written from it tells when one has changed since. The error wraps
// tracefile.ErrFile, and tracefile.ErrChanged if the file is not the one that s
// means. A nil loader is tracefile.ReadFile.
func (s Spec) Pin(load tracefile.Loader) (Spec, error) { return pin(tracefile.NewLibrary(load), s) }
