package panics_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"wirelab/internal/panics"
)

func boom() { panic("boom") }

func TestCall(t *testing.T) {
	if err := panics.Call(func() error { return nil }); err != nil {
		t.Error(err)
	}
	want := errors.New("failed")
	if err := panics.Call(func() error { return want }); err != want {
		t.Errorf("%v, want %v", err, want)
	}
	err := panics.Call(func() error { boom(); return nil })
	var e *panics.Error
	if !errors.As(err, &e) || e.Value != "boom" || !strings.HasPrefix(err.Error(), "boom\n\n") || !strings.Contains(err.Error(), "panics_test.boom") {
		t.Errorf("%v", err)
	}
	if again := panics.Call(func() error { panic(err) }); again != err {
		t.Errorf("passed on as %v", again)
	}
}

func TestGuard(t *testing.T) {
	var all sync.WaitGroup
	var got error
	ran := false
	all.Go(panics.Guard(func(err error) { got = err }, boom))
	all.Go(panics.Guard(func(err error) { t.Error(err) }, func() { ran = true }))
	all.Wait()
	if !ran || !errors.As(got, new(*panics.Error)) {
		t.Errorf("ran: %v; reported: %v", ran, got)
	}
}

func TestRecoveredNil(t *testing.T) {
	if panics.Recovered(nil) != nil {
		t.Error("a panic where there was none")
	}
}

func TestEach(t *testing.T) {
	for _, jobs := range []int{0, 1, 3, 20} {
		ran := make([]int, 10)
		want := errors.New("failed")
		errs := panics.Each(jobs, len(ran), func(i int) error {
			ran[i]++
			switch i {
			case 3:
				return want
			case 5:
				boom()
			}
			return nil
		})
		for i, err := range errs {
			if ran[i] != 1 || i == 3 != (err == want) || i == 5 != errors.As(err, new(*panics.Error)) {
				t.Errorf("%d jobs: %d ran %d times, %v", jobs, i, ran[i], err)
			}
		}
	}
}
