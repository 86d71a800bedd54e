package mdn

// sparse holds rows of numbers of which zeros are left out: row r is val and at
// from start[r] to start[r+1]. at is where what a number is multiplied with
// begins, in units of single floats.
type sparse struct {
	val   []float32
	at    []int32
	start []int32
}

func (s *sparse) len() int { return len(s.start) - 1 }

func (s *sparse) row(r int) (val []float32, at []int32) {
	from, to := s.start[r], s.start[r+1]
	return s.val[from:to], s.at[from:to]
}

// reset empties s.
func (s *sparse) reset() {
	s.val, s.at = s.val[:0], s.at[:0]
	s.start = append(s.start[:0], 0)
}

func (s *sparse) add(v float32, column int) {
	if v != 0 {
		s.val, s.at = append(s.val, v), append(s.at, int32(column*wide))
	}
}

// end completes a row with the constant one, whose weight is the bias.
func (s *sparse) end(columns int) {
	s.add(1, columns)
	s.start = append(s.start, int32(len(s.val)))
}

// transpose makes s the columns of rows, of which there are that many: the numbers
// of each in the order of rows.
func (s *sparse) transpose(rows *sparse, columns int) {
	s.val = append(s.val[:0], rows.val...)
	s.at = append(s.at[:0], rows.at...)
	s.start = append(s.start[:0], make([]int32, columns+2)...)
	for _, at := range rows.at {
		s.start[at/wide+2]++
	}
	for c := range columns {
		s.start[c+2] += s.start[c+1]
	}
	for r := range rows.len() {
		val, at := rows.row(r)
		for i, v := range val {
			slot := &s.start[at[i]/wide+1] // where the column goes on; at last, where it ends
			s.val[*slot], s.at[*slot] = v, int32(r*wide)
			*slot++
		}
	}
	s.start = s.start[:columns+1]
}
