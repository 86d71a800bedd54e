package align

// letter is what texts are made of: bytes, and names of parts of them.
type letter interface{ byte | int32 }

// suffixes fills sa, as long as text, with the places at which its suffixes begin
// in their order, in linear time (SA-IS: Nong, Zhang and Chan, "Linear suffix
// array construction by almost pure induced-sorting", 2009). Letters are below
// letters. Its other memory comes from room.
func suffixes[T letter](text []T, sa []int32, letters int, room *scratch) {
	if len(text) < 2 {
		clear(sa)
		return
	}
	s := sorter[T]{text: text, sa: sa}
	s.small, s.bucket = room.alloc(len(text), letters)
	defer room.free(len(text), letters)
	for i := len(text) - 2; i >= 0; i-- {
		s.small[i] = text[i] < text[i+1] || text[i] == text[i+1] && s.small[i+1]
	}
	s.clear()
	for i := range text {
		if s.leftmost(i) {
			s.place(int32(i))
		}
	}
	s.induce()
	m := s.collect()
	names := s.nameParts(m)
	reduced := sa[len(sa)-m:]
	if names < m {
		suffixes(reduced, sa[:m], names, room)
	} else {
		for i, name := range reduced {
			sa[name] = int32(i)
		}
	}
	s.finish(m)
}

// scratch is memory for sorting, which is kept from one time to the next. Within each
// text one at most half as long is sorted, of as many letters, but hardly ever so
// many: what does not fit is made for the occasion.
type scratch struct {
	small  []bool
	bucket []int32
	a, b   int // taken of each
}

// newScratch returns scratch memory for texts of n bytes.
func newScratch(n int) *scratch {
	return &scratch{small: make([]bool, 2*n), bucket: make([]int32, n/2+256)}
}

// alloc returns n false values and as many numbers as there are letters.
func (r *scratch) alloc(n, letters int) ([]bool, []int32) {
	small := r.small[r.a : r.a+n]
	clear(small)
	r.a, r.b = r.a+n, r.b+letters
	if r.b > len(r.bucket) {
		return small, make([]int32, letters)
	}
	return small, r.bucket[r.b-letters : r.b]
}

// free releases what was allocated last.
func (r *scratch) free(n, letters int) { r.a, r.b = r.a-n, r.b-letters }

// sorter sorts the suffixes of one text. A suffix is small if it is less than the
// one after it, and leftmost if it is small and the one before is not.
type sorter[T letter] struct {
	text   []T
	sa     []int32
	small  []bool
	bucket []int32 // for each letter the next place from an end of its bucket
}

func (s *sorter[T]) leftmost(i int) bool { return i > 0 && s.small[i] && !s.small[i-1] }

// bucketHeads and bucketTails set the places to the ends of the buckets.
func (s *sorter[T]) bucketHeads() {
	s.count()
	sum := int32(0)
	for i, n := range s.bucket {
		s.bucket[i] = sum
		sum += n
	}
}

func (s *sorter[T]) bucketTails() {
	s.count()
	sum := int32(0)
	for i, n := range s.bucket {
		sum += n
		s.bucket[i] = sum
	}
}

func (s *sorter[T]) count() {
	clear(s.bucket)
	for _, c := range s.text {
		s.bucket[c]++
	}
}

// clear empties the array, to be filled from the tails.
func (s *sorter[T]) clear() {
	for i := range s.sa {
		s.sa[i] = -1
	}
	s.bucketTails()
}

// place puts suffix i before those placed in its bucket.
func (s *sorter[T]) place(i int32) {
	c := s.text[i]
	s.bucket[c]--
	s.sa[s.bucket[c]] = i
}

// induce sorts all suffixes from the leftmost ones that were placed.
func (s *sorter[T]) induce() {
	s.bucketHeads()
	last := int32(len(s.text) - 1) // what comes after it is less than anything
	s.append(last)
	for _, i := range s.sa {
		if i > 0 && !s.small[i-1] {
			s.append(i - 1)
		}
	}
	s.bucketTails()
	for k := len(s.sa) - 1; k >= 0; k-- {
		if i := s.sa[k]; i > 0 && s.small[i-1] {
			s.place(i - 1)
		}
	}
}

func (s *sorter[T]) append(i int32) {
	c := s.text[i]
	s.sa[s.bucket[c]] = i
	s.bucket[c]++
}

// collect moves the leftmost suffixes to the front and returns how many.
func (s *sorter[T]) collect() int {
	m := 0
	for _, i := range s.sa {
		if s.leftmost(int(i)) {
			s.sa[m] = i
			m++
		}
	}
	return m
}

// nameParts gives the parts from each of the m leftmost suffixes to the next names in
// their order, writes them to the end of the array in the order of the text, and
// returns how many there are.
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
		rest[i/2] = int32(names - 1)
	}
	to := len(rest)
	for k := len(rest) - 1; k >= 0; k-- {
		if rest[k] >= 0 {
			to--
			rest[to] = rest[k]
		}
	}
	return names
}

// sameParts reports whether the parts at two leftmost suffixes are the same.
func (s *sorter[T]) sameParts(a, b int) bool {
	for k := 0; ; k++ {
		if a+k >= len(s.text) || b+k >= len(s.text) {
			return false
		}
		if s.text[a+k] != s.text[b+k] || s.small[a+k] != s.small[b+k] {
			return false
		}
		if k > 0 && (s.leftmost(a+k) || s.leftmost(b+k)) {
			return s.leftmost(a+k) && s.leftmost(b+k)
		}
	}
}

// finish sorts all suffixes, given the order of the m leftmost ones.
func (s *sorter[T]) finish(m int) {
	places := s.sa[len(s.sa)-m:]
	k := 0
	for i := range s.text {
		if s.leftmost(i) {
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
	for k := m - 1; k >= 0; k-- {
		i := order[k]
		order[k] = -1
		s.place(i)
	}
	s.induce()
}
