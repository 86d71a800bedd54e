package lossmodel

import (
	"wirelab/internal/setting"
	"wirelab/lossmodel/loss"
	"wirelab/lossmodel/tracefile"
)

// KeyInfo describes a key of a link.
type KeyInfo = setting.KeyInfo

// ParamInfo describes a parameter of a loss model.
type ParamInfo = setting.ParamInfo

// KeyError reports an unknown key or an invalid value, and what was expected. It wraps
// setting.ErrUnknown or setting.ErrValue.
type KeyError = setting.KeyError

// keyRow is a key of a Spec, with the file that its value names, if any.
type keyRow struct {
	setting.Row[Spec]
	file     func(*Spec) *tracefile.File // the file that the key names; nil if it names none
	fileKind *tracefile.Kind             // format of that file
}

// newKey returns a key for a field of Spec with values of unit u. field returns the address of the
// field.
func newKey[T comparable](u setting.Unit[T], field func(*Spec) *T, info KeyInfo) keyRow {
	return newComputedKey(u,
		func(s *Spec) T { return *field(s) },
		func(s *Spec, v T) { *field(s) = v }, info)
}

// newComputedKey returns a key whose value is computed by get and stored by put.
func newComputedKey[T comparable](u setting.Unit[T], get func(*Spec) T, put func(*Spec, T), info KeyInfo) keyRow {
	return keyRow{Row: setting.NewRow(u, get, put, info)}
}

// newFileKey returns a key that names a file, which is read as kind. what describes the file in
// errors, such as "a capture". hasTimes permits the option by=time. field returns the address of the
// File in a Spec.
func newFileKey(kind *tracefile.Kind, what string, hasTimes bool, field func(*Spec) *tracefile.File, info KeyInfo) keyRow {
	k := newKey(tracefile.Unit(what, hasTimes), field, info)
	k.file, k.fileKind = field, kind
	return k
}

// Keys lists all keys: those of the loss stage first, then in the order of the stages. The slices
// in the result are shared and must not be modified.
func Keys() []KeyInfo {
	infos := make([]KeyInfo, len(stages().keys))
	for i, k := range stages().keys {
		infos[i] = k.KeyInfo
	}
	return infos
}

// openFiles reads the files that a spec names and returns the spec with their hashes. The error is a
// *FileError.
func openFiles(files *tracefile.Library, s Spec) (Spec, error) {
	if m, ok := s.Loss.(loss.FileModel); ok {
		opened, err := m.Open(files)
		if err != nil {
			return s, &FileError{"loss", err}
		}
		s.Loss = opened
	}
	for _, k := range stages().keys {
		if k.file == nil || k.file(&s).Path == "" {
			continue // the value of the key is not a file, or no file is set
		}
		f, err := files.Open(*k.file(&s), k.fileKind)
		if err != nil {
			return s, &FileError{k.Key, err}
		}
		*k.file(&s) = f
	}
	return s, nil
}

// FileError reports a key that names an unusable file.
type FileError struct {
	Key string
	Err error
}

func (e *FileError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns e.Err.
func (e *FileError) Unwrap() error { return e.Err }

// Pin reads the files that s names and returns s with their hashes, so that later changes of the
// files are detected. The error wraps tracefile.ErrFile, and tracefile.ErrChanged if s already
// has a different hash. A nil load means tracefile.ReadFile.
func (s Spec) Pin(load tracefile.Loader) (Spec, error) {
	return openFiles(tracefile.NewLibrary(load), s)
}
