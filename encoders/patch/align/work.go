package align

// work counts what takes an Aligner's time. Data made to be searched in vain, such as
// long strings of two letters, would take any number of these operations for each byte;
// so whatever an Aligner has spent too much of it does less thoroughly from then on.
// Programs and archives stay below the limits.
type work struct {
	sorted   int64 // bytes of the windows whose suffixes were sorted
	compared int64 // bytes compared in searching them, and steps
	divided  int64 // bytes looked at to divide what lies between two matches
	followed int64 // bytes compared along diagonals
}

// allowance is what may be spent by a place in the new file, in full thoroughness: so
// much from the start, and so much for each byte.
type allowance struct{ start, each int64 }

var (
	allowSorted   = allowance{16 << 20, 10}
	allowCompared = allowance{8 << 20, 64}
	allowDivided  = allowance{4 << 20, 8}
	allowFollowed = allowance{4 << 20, 16}
)

const (
	fewLines  = 8       // diagonals that are followed at a time, when too many were
	nearBytes = 4 << 10 // that are divided at each end, when too many were
)

// exceeded reports whether more was spent at a place than is allowed.
func (l allowance) exceeded(spent int64, place int) bool {
	return spent > l.start+l.each*int64(place)
}
