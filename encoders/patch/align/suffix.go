package align

// symbol is an element of a text: a byte, or the name of a substring.
type symbol interface{ byte | int32 }

// sortSuffixes sets sa, as long as text, to the suffix array of text: the positions of its suffixes in
// lexical order. It takes linear time (SA-IS: Nong, Zhang and Chan, "Linear suffix array construction by
// almost pure induced-sorting", 2009). All symbols are below alphabet. memory must have room for the text.
//
// In the terms of the article, a suffix is of type S if it is smaller than the next suffix, and an LMS
// suffix (leftmost S) if it is of type S and the suffix before it is not.
func sortSuffixes[T symbol](text []T, sa []int32, alphabet int, memory *scratch) {
	if len(text) < 2 {
		clear(sa)
		return
	}
	s := sorter[T]{text: text, sa: sa}
	s.small, s.bucket = memory.alloc(len(text), alphabet)
	defer memory.free(len(text), alphabet)
	for i := len(text) - 2; i >= 0; i-- { // find the suffixes of type S
		s.small[i] = text[i] < text[i+1] || text[i] == text[i+1] && s.small[i+1]
	}
	// Sort the LMS substrings: place the LMS suffixes in any order and sort the others by them (induce). The
	// substrings then are in order, though the LMS suffixes may not be.
	s.clear()
	for i := range text {
		if s.isLeftmost(i) {
			s.placeSuffix(int32(i))
		}
	}
	s.induce()
	// Name the substrings, and sort the LMS suffixes by sorting the text of the names, which is at the end of sa.
	m := s.collectLeftmost()
	names := s.nameParts(m)
	reduced := sa[len(sa)-m:]
	if names < m { // some substrings are equal: sort recursively
		sortSuffixes(reduced, sa[:m], names, memory)
	} else { // all names differ: they are the order
		for i, name := range reduced {
			sa[name] = int32(i)
		}
	}
	s.sortAll(m)
}

// scratch is reusable memory for sortSuffixes. The recursion sorts a text at most half as long, with at most
// as many symbols but usually far fewer; buckets that do not fit are allocated.
type scratch struct {
	small                 []bool
	bucket                []int32
	usedSmall, usedBucket int // elements in use
}

// newScratch returns scratch memory for texts of n bytes.
func newScratch(n int) *scratch {
	return &scratch{small: make([]bool, 2*n), bucket: make([]int32, n/2+256)}
}

// alloc returns n false values and a bucket for each symbol. The buckets are allocated if those of r do not suffice.
func (r *scratch) alloc(n, alphabet int) ([]bool, []int32) {
	small := r.small[r.usedSmall : r.usedSmall+n]
	clear(small)
	r.usedSmall, r.usedBucket = r.usedSmall+n, r.usedBucket+alphabet
	if r.usedBucket > len(r.bucket) {
		return small, make([]int32, alphabet)
	}
	return small, r.bucket[r.usedBucket-alphabet : r.usedBucket]
}

// free releases the last allocation, whose sizes were n and alphabet.
func (r *scratch) free(n, alphabet int) {
	r.usedSmall, r.usedBucket = r.usedSmall-n, r.usedBucket-alphabet
}

// sorter sorts the suffixes of one text.
type sorter[T symbol] struct {
	text   []T
	sa     []int32
	small  []bool  // by suffix: it is smaller than the suffix that begins one symbol later (type S in SA-IS)
	bucket []int32 // by symbol: the next index in sa for a suffix that begins with it
}

// isLeftmost reports whether suffix i is an LMS suffix.
func (s *sorter[T]) isLeftmost(i int) bool { return i > 0 && s.small[i] && !s.small[i-1] }

// bucketHeads sets the buckets to their starts, to be filled upwards.
func (s *sorter[T]) bucketHeads() {
	s.count()
	sum := int32(0)
	for i, n := range s.bucket {
		s.bucket[i] = sum
		sum += n
	}
}

// bucketTails sets the buckets to their ends, to be filled downwards.
func (s *sorter[T]) bucketTails() {
	s.count()
	sum := int32(0)
	for i, n := range s.bucket {
		sum += n
		s.bucket[i] = sum
	}
}

// count sets each bucket to the number of suffixes that begin with its symbol.
func (s *sorter[T]) count() {
	clear(s.bucket)
	for _, c := range s.text {
		s.bucket[c]++
	}
}

// clear empties sa and sets the buckets to their ends.
func (s *sorter[T]) clear() {
	for i := range s.sa {
		s.sa[i] = -1
	}
	s.bucketTails()
}

// placeSuffix puts suffix i at the end of its bucket, before those placed there already.
func (s *sorter[T]) placeSuffix(i int32) {
	c := s.text[i]
	s.bucket[c]--
	s.sa[s.bucket[c]] = i
}

// induce sorts all suffixes (induced sorting), given LMS suffixes at the ends of their buckets: first the suffixes
// of type L, which are larger than the next suffix of the text, from left to right; then those of type S, which
// are smaller, from right to left. The latter replace the LMS suffixes.
func (s *sorter[T]) induce() {
	s.bucketHeads()
	last := int32(len(s.text) - 1) // the end of the text counts as smaller than any symbol
	s.appendSuffix(last)
	for _, i := range s.sa {
		if i > 0 && !s.small[i-1] {
			s.appendSuffix(i - 1)
		}
	}
	s.bucketTails()
	for k := len(s.sa) - 1; k >= 0; k-- {
		if i := s.sa[k]; i > 0 && s.small[i-1] {
			s.placeSuffix(i - 1)
		}
	}
}

// appendSuffix puts suffix i at the start of its bucket, after those placed there already.
func (s *sorter[T]) appendSuffix(i int32) {
	c := s.text[i]
	s.sa[s.bucket[c]] = i
	s.bucket[c]++
}

// collectLeftmost moves the LMS suffixes to the front of sa and returns their number.
func (s *sorter[T]) collectLeftmost() int {
	m := 0
	for _, i := range s.sa {
		if s.isLeftmost(int(i)) {
			s.sa[m] = i
			m++
		}
	}
	return m
}

// nameParts names the LMS substrings, which reach from one LMS suffix to the next, by their order; equal ones
// have the same name. It writes the names to the end of sa in the order of the text, and returns the number of
// different names. m is the number of LMS suffixes.
func (s *sorter[T]) nameParts(m int) int {
	rest := s.sa[m:]
	for i := range rest {
		rest[i] = -1
	}
	names, last := 0, int32(-1)
	for _, i := range s.sa[:m] {
		if last < 0 || !s.sameParts(int(last), int(i)) {
			names++
		}
		last = i
		rest[i/2] = int32(names - 1) // LMS suffixes are at least two apart, so i/2 is unique
	}
	firstName := len(rest)
	for k := len(rest) - 1; k >= 0; k-- {
		if rest[k] >= 0 {
			firstName--
			rest[firstName] = rest[k]
		}
	}
	return names
}

// sameParts reports whether the LMS substrings at two positions are equal.
func (s *sorter[T]) sameParts(a, b int) bool {
	for k := 0; ; k++ {
		if a+k >= len(s.text) || b+k >= len(s.text) {
			return false
		}
		if s.text[a+k] != s.text[b+k] || s.small[a+k] != s.small[b+k] {
			return false
		}
		if k > 0 && (s.isLeftmost(a+k) || s.isLeftmost(b+k)) {
			return s.isLeftmost(a+k) && s.isLeftmost(b+k)
		}
	}
}

// sortAll sorts all suffixes. The first m elements of sa are the LMS suffixes in their order, as numbers from 0 on
// that count them in the order of the text.
func (s *sorter[T]) sortAll(m int) {
	places := s.sa[len(s.sa)-m:] // the positions of the LMS suffixes in the text
	k := 0
	for i := range s.text {
		if s.isLeftmost(i) {
			places[k] = int32(i)
			k++
		}
	}
	order := s.sa[:m]
	for i, x := range order {
		order[i] = places[x]
	}
	rest := s.sa[m:]
	for i := range rest {
		rest[i] = -1
	}
	s.bucketTails()
	for k := m - 1; k >= 0; k-- { // from the last to the first, because buckets are filled downwards
		i := order[k]
		order[k] = -1
		s.placeSuffix(i)
	}
	s.induce()
}
