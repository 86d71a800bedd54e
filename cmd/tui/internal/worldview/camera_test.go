package worldview

import "testing"

// TestCameraFollows: over cubes the camera stands still until the player leaves the dead zone, and is then centred on
// the player; after Pan it does not follow.
func TestCameraFollows(t *testing.T) {
	k := NewMap(nil).Camera
	const reach = 0.36 * gridSide
	track := func(x, y float64) { k.Track(0, []Thing{{X: x, Y: y, State: Player}}) }
	track(reach-0.1, -reach+0.1)
	if k.X != 0 || k.Y != 0 {
		t.Errorf("the camera moved to %g,%g for a player within the dead zone", k.X, k.Y)
	}
	track(3, reach+0.1)
	if k.X != 3 || k.Y != reach+0.1 {
		t.Errorf("the camera is at %g,%g and not on the player", k.X, k.Y)
	}
	k.Pan(1, 0)
	if track(100, 100); k.X > 50 {
		t.Error("the camera follows after Pan")
	}
	k.Zoom(50)
	if span := k.span(); span > 3 {
		t.Errorf("closest is %g m", span)
	}
	k.Zoom(-50)
	if v := k.view(38, 18); k.span() < 512 || v.dotSize != 9 {
		t.Errorf("farthest is %g m at %g m a dot, want 9: the world is 512 m wide", k.span(), v.dotSize)
	}
	k.Reset()
	if v := k.view(41, 21); v != (view{dotSize: 0.5}) {
		t.Errorf("after Reset the view is %+v", v)
	}
}
