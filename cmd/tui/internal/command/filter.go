package command

import (
	"fmt"
	"strings"

	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// parseFilter reads "filter lost".
func parseFilter(args []string) (Order, error) {
	name := strings.ToLower(strings.Join(args, "-"))
	for i, n := range room.FilterNames() {
		if n == name {
			f := room.Filter(i)
			return Order{Filter: &f}, nil
		}
	}
	if name == "" {
		return Order{}, errUsage
	}
	if near := config.Near(name, room.FilterNames()); near != "" {
		return Order{}, fmt.Errorf("packets cannot be filtered by %q; did you mean %s?", name, near)
	}
	return Order{}, fmt.Errorf("packets cannot be filtered by %q; expected one of %s", name, strings.Join(room.FilterNames(), ", "))
}

func completeFilter(_ Context, before []string) []string {
	return firstOnly(before, room.FilterNames())
}
