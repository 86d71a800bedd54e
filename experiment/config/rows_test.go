package config

import (
	"testing"

	"wirelab/encoders"
	"wirelab/lossmodel"
)

func TestStepLossParam(t *testing.T) {
	share, packets := lossmodel.ParamInfo{Unit: "%", Min: "0%"}, lossmodel.ParamInfo{Unit: "packets"}
	for _, c := range []struct {
		p    lossmodel.ParamInfo
		now  string
		n    int
		want string
	}{
		{share, "1%", 1, "2%"}, {share, "0%", -1, "0%"}, {share, "100%", 4, "100%"}, {share, "6%", 1, "7%"}, {share, "?", 1, "?"},
		{packets, "3", 1, "4"}, {packets, "1", -4, "1"},
		{lossmodel.ParamInfo{Unit: "%", Min: "-100%"}, "0%", -1, "-5%"}, {lossmodel.ParamInfo{Unit: "%", Min: "-100%"}, "90%", 4, "95%"},
	} {
		if got := stepLossParam(c.p, c.now, c.n); got != c.want {
			t.Errorf("%s by %d is %s, want %s", c.now, c.n, got, c.want)
		}
	}
}

func TestStepParam(t *testing.T) {
	lo, hi := 2.0, 8.0
	whole := encoders.ParamInfo{Type: "int", Min: &lo, Max: &hi}
	real := encoders.ParamInfo{Type: "float", Min: &lo, Max: &hi}
	zero, one := 0.0, 1.0
	share := encoders.ParamInfo{Type: "float", Min: &zero, Max: &one}
	for _, c := range []struct {
		info encoders.ParamInfo
		now  any
		n    int
		want any
	}{{share, 0.1, 1, 0.15}, {share, 0.25, 1, 0.3}, {share, 0.3, -6, 0.0}, {whole, 7, 1, int64(8)}, {whole, int64(8), 1, int64(8)}, {whole, 3, -4, int64(2)}, {real, 5.0, 1,
		5.3}, {encoders.ParamInfo{Type: "bool"}, false, 1, true}, {encoders.ParamInfo{Type: "string"}, "x", 1, "x"}} {
		if got := stepParam(c.info, c.now, c.n); got != c.want {
			t.Errorf("%v by %d is %v, want %v", c.now, c.n, got, c.want)
		}
	}
}
