package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"wirelab/cmd/tui/internal/controls"
	"wirelab/experiment/config"
)

// parseEvery reads "every 6".
func parseEvery(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	n, err := strconv.Atoi(args[0])
	if most := controls.SendSteps()[len(controls.SendSteps())-1]; err != nil || n < 1 || n > most {
		return Order{}, fmt.Errorf("expected 1 to %d: every so many-th snapshot is sent", most)
	}
	return changeOrder(config.Change{Every: n}), nil
}

// parseInterpolation reads "interpolation hermite".
func parseInterpolation(args []string) (Order, error) {
	if len(args) != 1 {
		return Order{}, errUsage
	}
	names := config.Interpolations()
	if name := strings.ToLower(args[0]); slices.Contains(names, name) {
		return changeOrder(config.Change{Interpolation: name}), nil
	}
	return Order{}, fmt.Errorf("expected one of %s", strings.Join(names, ", "))
}

func completeInterpolation(_ Context, before []string) []string {
	return firstOnly(before, config.Interpolations())
}
