package entropy

import "math"

// fits holds the samples of predictions for a trainer.
type fits struct{ shift, turn fit }

// fit finds the weights of each class with the least absolute error, by iteratively
// reweighted least squares: in each pass a sample counts less the larger its error was.
//
// Every product that is added is converted, so that all machines find the same.
type fit struct {
	features int
	soft     float64     // errors below it weigh alike
	xx, xy   [][]float64 // by class
}

func newFit(features int, soft float64) fit {
	f := fit{features, soft, make([][]float64, classes), make([][]float64, classes)}
	for c := range classes {
		f.xx[c], f.xy[c] = make([]float64, features*features), make([]float64, features)
	}
	return f
}

// add adds a sample: the features, the truth, and the error of the present weights.
func (t *fit) add(class int, features []int32, truth, miss int32) {
	w := 1 / (t.soft + math.Abs(float64(miss)))
	for i, v := range features {
		v := float64(float64(v) * w)
		for j, u := range features {
			t.xx[class][i*t.features+j] += float64(v * float64(u))
		}
		t.xy[class][i] += float64(v * float64(truth))
	}
}

// weights returns the best weights in units of 1/weightOne.
func (t *fit) weights() []int32 {
	var out []int32
	for c := range classes {
		for _, w := range solve(t.xx[c], t.xy[c]) {
			out = append(out, int32(math.Round(min(max(float64(w*weightOne), -1<<24), 1<<24))))
		}
	}
	return out
}

// solve returns x with a x = b, where a is symmetric and positive semidefinite, by
// elimination. A small diagonal term gives features that never occurred a weight of
// zero.
func solve(a, b []float64) []float64 {
	n := len(b)
	a, b = append([]float64(nil), a...), append([]float64(nil), b...)
	for i := range n {
		a[i*n+i] += float64(1e-3*a[i*n+i]) + 1e-3
	}
	for i := range n {
		for j := i + 1; j < n; j++ {
			f := a[j*n+i] / a[i*n+i]
			for k := i; k < n; k++ {
				a[j*n+k] -= float64(f * a[i*n+k])
			}
			b[j] -= float64(f * b[i])
		}
	}
	x := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		s := b[i]
		for k := i + 1; k < n; k++ {
			s -= float64(a[i*n+k] * x[k])
		}
		x[i] = s / a[i*n+i]
	}
	return x
}
