package worldview

import (
	"testing"
)

// TestCameraFollows: the camera stands still until the player leaves the dead zone, and is then centred
// on the player; after Pan it does not follow.
func TestCameraFollows(t *testing.T) {
	k := Camera{ZoomLevel: FirstZoom, Follow: true}
	reach := deadZone * k.Span()
	k.Track(reach-0.1, -reach+0.1)
	if k.X != 0 || k.Y != 0 {
		t.Errorf("the camera moved to %g,%g for a player within the dead zone", k.X, k.Y)
	}
	k.Track(3, reach+0.1)
	if k.X != 3 || k.Y != reach+0.1 {
		t.Errorf("the camera is at %g,%g and not on the player", k.X, k.Y)
	}
	k.Pan(1, 0)
	if k.Track(100, 100); k.X > 50 {
		t.Error("the camera follows after Pan")
	}
	for range 50 {
		k.Zoom(1)
	}
	if k.Span() != zooms()[0] {
		t.Errorf("closest is %g m", k.Span())
	}
	for range 50 {
		k.Zoom(-1)
	}
	if v := k.View(76, 72); k.Span() != 520 || v.DotSize != 8 {
		t.Errorf("farthest is %g m at %g m a dot, want 8: the world is 512 m wide", k.Span(), v.DotSize)
	}
}
