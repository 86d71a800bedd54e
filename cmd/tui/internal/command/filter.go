package command

import (
	"strings"

	"wirelab/cmd/tui/internal/room"
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
	return Order{}, unknown("packets cannot be filtered by", name, room.FilterNames(), expectOne(room.FilterNames()))
}

func completeFilter(_ Context, before []string) []string {
	return firstOnly(before, room.FilterNames())
}
