package delivery

import (
	"bytes"
	"math"
	"slices"
	"sync"

	"wirelab/encoders/patch"
)

// Matrix is a dot plot of a patch: it shows which parts of the new file resemble which parts of its
// sources. Rows stand for the new file, top to bottom. Columns stand for the sources from which a
// patch may copy, left to right: the old file, then the new file itself.
type Matrix struct {
	OldSize, NewSize int64 // bytes
	Rows, Cols       int
	Score            []uint8 // similarity of each part to each source, 0 to 255, row by row
	Chosen           []bool  // whether the patch copies the part from the source, row by row
	Done             int     // finished rows, from the top
}

// Size of a Matrix: as much as a large screen can show.
const (
	matrixRows = 96
	matrixCols = 192
)

// OldCols returns the number of columns that stand for the old file.
func (m *Matrix) OldCols() int { return int(m.OldSize * int64(m.Cols) / max(m.OldSize+m.NewSize, 1)) }

// HasContent reports whether the matrix has any score or finished row.
func (m *Matrix) HasContent() bool {
	return m.Done > 0 || slices.ContainsFunc(m.Score, func(v uint8) bool { return v > 0 })
}

// MatrixMaker builds a Matrix while a patch is made. Another goroutine may call View meanwhile.
type MatrixMaker struct {
	mu   sync.Mutex
	m    Matrix
	view *Matrix // the copy that View returned last; nil if m has changed since
}

// NewMatrixMaker returns a maker for files of the given sizes in bytes.
func NewMatrixMaker(oldSize, newSize int64) *MatrixMaker {
	return &MatrixMaker{m: Matrix{OldSize: oldSize, NewSize: newSize, Rows: matrixRows, Cols: matrixCols,
		Score: make([]uint8, matrixRows*matrixCols), Chosen: make([]bool, matrixRows*matrixCols)}}
}

// Watch returns the callbacks that update the matrix, for Packing.
func (x *MatrixMaker) Watch() patch.Watch {
	return patch.Watch{Correlated: x.addCorrelation, Coded: x.addSegment}
}

// row returns the row of byte at of the new file.
func (x *MatrixMaker) row(at int64) int {
	return int(min(at*matrixRows/max(x.m.NewSize, 1), matrixRows-1))
}

// col returns the column of a source address: an offset in the old file, followed by the new file.
func (x *MatrixMaker) col(address int64) int {
	return int(max(0, min(address*matrixCols/max(x.m.OldSize+x.m.NewSize, 1), matrixCols-1)))
}

// addCorrelation adds the similarities of one block of the new file: c.Score[i] is about the number of
// bytes of the block that also occur in cell i of the sources, which is c.Cell bytes long. The score of a
// cell of the matrix is the square root of this number's share of its maximum, so that weak similarities
// stay visible.
func (x *MatrixMaker) addCorrelation(c patch.Correlation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.view = nil
	var line [matrixCols]uint8
	maxScore := float64(max(min(c.Cell, c.End-c.Start), 1))
	for i, score := range c.Score {
		if score <= 0 {
			continue
		}
		v := uint8(255 * math.Sqrt(min(float64(score)/maxScore, 1)))
		from, to := x.col(int64(i)*c.Cell), x.col(int64(i+1)*c.Cell-1)
		for col := from; col <= to; col++ {
			line[col] = max(line[col], v)
		}
	}
	for row := x.row(c.Start); row <= x.row(c.End-1); row++ {
		for col, v := range line {
			cell := &x.m.Score[row*matrixCols+col]
			*cell = max(*cell, v)
		}
	}
}

// addSegment marks the cells of the copies in a finished segment of the patch. A copy takes c.N bytes from source
// address c.From for byte c.At of the new file and those after it. step is half the smaller side of a cell in
// bytes, so that no cell along a copy is left out.
func (x *MatrixMaker) addSegment(t patch.Segment) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.view = nil
	step := max(min(x.m.NewSize/matrixRows, (x.m.OldSize+x.m.NewSize)/matrixCols)/2, 1)
	for _, c := range t.Copies {
		for n := int64(0); n < c.N; n += step {
			x.m.Chosen[x.row(c.At+n)*matrixCols+x.col(c.From+n)] = true
		}
	}
	x.m.Done = x.row(t.End)
	if t.End == x.m.NewSize { // row limits its result to the last row
		x.m.Done = matrixRows
	}
}

// View returns a copy of the matrix so far, which is never modified.
func (x *MatrixMaker) View() *Matrix {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.view == nil {
		m := x.m
		m.Score, m.Chosen = bytes.Clone(m.Score), slices.Clone(m.Chosen)
		x.view = &m
	}
	return x.view
}
