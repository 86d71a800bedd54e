package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"wirelab/cmd/tui/internal/look"
	"wirelab/cmd/tui/internal/room"
	"wirelab/experiment/config"
)

// bookmarks are configurations of the session under a letter each. They last as long as the program.
type bookmarks map[string]bookmark

// bookmark is a configuration and the virtual time at which it was stored.
type bookmark struct {
	cfg *config.Config
	at  time.Duration
}

// previousName is the bookmark of the configuration before the last jump, as in vi.
const previousName = "'"

// isBookmarkName reports whether a key or an argument names a bookmark that users can store.
func isBookmarkName(name string) bool { return len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' }

// storeBookmark stores the configuration as a bookmark, and returns the request to mark the moment in the charts.
func (m *dashboard) storeBookmark(name string) room.Request {
	m.bookmarks[name] = bookmark{m.lab.Config().Clone(), m.lab.Snap.Now}
	return room.Change(config.NewChange("mark", "bookmark "+name))
}

// jumpTo returns the request to restore the configuration of a bookmark: one change, which can be undone. The
// configuration before it becomes the bookmark previousName.
func (m *dashboard) jumpTo(name string) room.Request {
	b, ok := m.bookmarks[name]
	if !ok {
		return room.Request{Notice: fmt.Sprintf("no configuration is stored under %s; m %s stores one", name, name), IsError: true}
	}
	current := m.lab.Config()
	ch := b.cfg.Undo(current)
	if ch.IsZero() {
		return room.Request{Notice: "the configuration is that of bookmark " + name + " already"}
	}
	previous := bookmark{current.Clone(), m.lab.Snap.Now}
	r := room.Change(ch)
	r.Accepted = func(*config.Config) { m.bookmarks[previousName] = previous }
	return r
}

// bookmarkBox is the overlay in which the user types the letter of a bookmark.
type bookmarkBox struct {
	m      *dashboard
	isJump bool // restore a configuration, not store one
}

// Key implements room.Overlay: a letter stores or restores. When storing, enter only marks the moment in the charts.
// Every other key closes the box.
func (b *bookmarkBox) Key(msg tea.KeyMsg) (r room.Request) {
	switch name := msg.String(); {
	case b.isJump && (isBookmarkName(name) || name == previousName):
		r = b.m.jumpTo(name)
	case !b.isJump && isBookmarkName(name):
		r = b.m.storeBookmark(name)
	case !b.isJump && msg.Type == tea.KeyEnter:
		b.m.marks++
		r = room.Change(config.NewChange("mark", "mark "+strconv.Itoa(b.m.marks)))
	}
	r.Closes = true
	return r
}

// Size implements room.Overlay: a row for each bookmark, and a hint.
func (b *bookmarkBox) Size(w, h int) (boxW, boxH int, atRight bool) {
	const edges, hint = 2, 1
	return min(w, 90), min(h, len(b.m.bookmarks)+edges+hint), false
}

// Draw implements room.Overlay. Each bookmark is listed with what restoring it would change.
func (b *bookmarkBox) Draw(c *look.Canvas, th *look.Theme) {
	title, hint := "Bookmark this configuration", "a letter stores it; enter only marks the charts; esc closes"
	if b.isJump {
		title, hint = "Restore a configuration", "type its letter; esc closes"
		if len(b.m.bookmarks) == 0 {
			hint = "none is stored; m and a letter store the present one"
		}
	}
	c.Frame(th, look.Focused, title)
	current := b.m.lab.Config()
	y := 1
	for _, name := range slices.Sorted(maps.Keys(b.m.bookmarks)) {
		stored := b.m.bookmarks[name]
		ch := stored.cfg.Undo(current)
		effect := ch.Label()
		if ch.IsZero() {
			effect = "as now"
		}
		if y < c.H-2 {
			c.Spans(2, y, c.W-4, look.Key.Span(name), look.Dim.Span("  "+look.FormatTime(stored.at)+"  "), look.Plain.Span(effect))
		}
		y++
	}
	c.Clip(2, c.H-2, c.W-4, look.Dim, hint)
}
