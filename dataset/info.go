package dataset

// Info describes a whole recording.
type Info struct {
	Frames int    // as in the file: frames 0..5 included
	Cubes  int
	SHA256 string // of the uncompressed walk-off records, in hex
}

// Describe reads all that spec names, which must end, and describes it.
func Describe(spec string, opt Options) (Info, error) { return Info{}, ErrFormat }
