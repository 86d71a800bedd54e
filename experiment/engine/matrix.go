package engine

import (
	"bytes"
	"math"
	"slices"
	"sync"

	patches "wirelab/encoders/patch"
)

// Matrix is a picture of what a new file is like, drawn while a patch is made: the
// new file from top to bottom, and from left to right what it may be taken from,
// which is the old file and behind it the new one as far as it is told.
type Matrix struct {
	OldSize, NewSize int64
	Rows, Cols       int
	Score            []uint8 // row by row: how much of that part was found there, 0 to 255
	Chosen           []bool  // whether it was taken from there
	Done             int     // rows that are done, from the top
}

// The size of the picture: as much as a large screen can show.
const (
	matrixRows = 96
	matrixCols = 192
)

// OldCols returns how many of the columns stand for the old file.
func (m *Matrix) OldCols() int { return int(m.OldSize * int64(m.Cols) / max(m.OldSize+m.NewSize, 1)) }

// Begun reports whether there is anything to see.
func (m *Matrix) Begun() bool {
	return m.Done > 0 || slices.ContainsFunc(m.Score, func(v uint8) bool { return v > 0 })
}

// MatrixMaker draws the picture as its parts are heard of, in one goroutine, for
// those who look from another.
type MatrixMaker struct {
	mu   sync.Mutex
	m    Matrix
	seen *Matrix // a copy for those who look; nil: the picture has changed since
}

// NewMatrixMaker begins a picture of files of so many bytes.
func NewMatrixMaker(oldSize, newSize int64) *MatrixMaker {
	return &MatrixMaker{m: Matrix{OldSize: oldSize, NewSize: newSize, Rows: matrixRows, Cols: matrixCols,
		Score: make([]uint8, matrixRows*matrixCols), Chosen: make([]bool, matrixRows*matrixCols)}}
}

// Watch is what the maker of a patch tells.
func (x *MatrixMaker) Watch() patches.Watch {
	return patches.Watch{Correlated: x.correlated, Coded: x.coded}
}

// row and col return where a byte of the new file, and an address, are in the picture.
func (x *MatrixMaker) row(at int64) int {
	return int(min(at*matrixRows/max(x.m.NewSize, 1), matrixRows-1))
}

func (x *MatrixMaker) col(address int64) int {
	return int(max(0, min(address*matrixCols/max(x.m.OldSize+x.m.NewSize, 1), matrixCols-1)))
}

// correlated takes in what a block is like.
func (x *MatrixMaker) correlated(c patches.Correlation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = nil
	var line [matrixCols]uint8
	most := float64(max(min(c.Cell, c.End-c.Start), 1))
	for i, score := range c.Score {
		if score <= 0 {
			continue
		}
		v := uint8(255 * math.Sqrt(min(float64(score)/most, 1)))
		from, to := x.col(int64(i)*c.Cell), x.col(int64(i+1)*c.Cell-1)
		for col := from; col <= to; col++ {
			line[col] = max(line[col], v)
		}
	}
	for row := x.row(c.Start); row <= x.row(c.End-1); row++ {
		for col, v := range line {
			at := &x.m.Score[row*matrixCols+col]
			*at = max(*at, v)
		}
	}
}

// coded takes in what a part was taken from.
func (x *MatrixMaker) coded(t patches.Segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen = nil
	step := max(min(x.m.NewSize/matrixRows, (x.m.OldSize+x.m.NewSize)/matrixCols)/2, 1)
	for _, c := range t.Copies {
		for n := int64(0); n < c.N; n += step {
			x.m.Chosen[x.row(c.At+n)*matrixCols+x.col(c.From+n)] = true
		}
	}
	x.m.Done = x.row(t.End)
	if t.End == x.m.NewSize {
		x.m.Done = matrixRows
	}
}

// View returns the picture as it is; nobody writes to it any more.
func (x *MatrixMaker) View() *Matrix {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.seen == nil {
		m := x.m
		m.Score, m.Chosen = bytes.Clone(m.Score), slices.Clone(m.Chosen)
		x.seen = &m
	}
	return x.seen
}
