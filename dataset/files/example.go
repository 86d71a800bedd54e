package files

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"wirelab/internal/seed"
)

// The example is the package of a small game in two versions: things with
// addresses of other things, words, and pictures. In the second version things were
// added, so that every address behind them moved; some words were changed; a third of
// the pictures were drawn anew, and the last one moved to the front.
const (
	things   = 6000
	added    = 24 // things
	words    = 1200
	pictures = 12
	pixels   = 32 << 10 // bytes of a picture
)

// example returns a pair of files of about 600 KB, made from a seed.
func example(number uint64) (old, new []byte) {
	rng := rand.New(seed.Tagged(number, "files"))
	g := &game{rng: rng}
	for range things {
		g.objects = append(g.objects, g.newObject(things))
	}
	for i := range words {
		g.words = append(g.words, g.word(i))
	}
	for range pictures {
		g.pictures = append(g.pictures, g.picture())
	}
	old = g.bytes()
	g.revise()
	return old, g.bytes()
}

// game is what the example is made of.
type game struct {
	rng      *rand.Rand
	objects  []object
	words    []string
	pictures [][]byte
}

// object is a record of 32 bytes.
type object struct {
	kind, flags uint16
	place       [3]int32
	next, word  int // numbers of a thing and of a word: addresses, in the file
	health      uint32
}

func (g *game) newObject(n int) object {
	return object{kind: uint16(g.rng.IntN(40)), flags: 1 << g.rng.IntN(6),
		place: [3]int32{int32(g.rng.IntN(200_000)), int32(g.rng.IntN(200_000)), int32(g.rng.IntN(3000))},
		next:  g.rng.IntN(n), word: g.rng.IntN(words), health: 100}
}

func (g *game) word(i int) string {
	parts := []string{"a", "rusty", "golden", "sword", "of", "the", "shield", "ancient", "lamp", "key", "to", "door",
		"wooden", "moon", "river", "guard"}
	text := fmt.Sprintf("%d ", i)
	for range 4 + g.rng.IntN(6) {
		text += parts[g.rng.IntN(len(parts))] + " "
	}
	return text + "\n"
}

// picture is a landscape of 8 bits: it goes up and down, with some grain.
func (g *game) picture() []byte {
	b := make([]byte, pixels)
	level := 128
	for i := range b {
		level = max(16, min(240, level+g.rng.IntN(7)-3))
		b[i] = byte(level)
	}
	return b
}

// revise makes the second version.
func (g *game) revise() {
	at := things / 3
	rest := append([]object{}, g.objects[at:]...)
	g.objects = g.objects[:at]
	for range added {
		g.objects = append(g.objects, g.newObject(things))
	}
	g.objects = append(g.objects, rest...)
	for i := range g.objects {
		if t := &g.objects[i]; t.next >= at {
			t.next += added
		}
	}
	for range words / 40 {
		i := g.rng.IntN(words)
		g.words[i] = g.word(i)
	}
	for i := 1; i < pictures-1; i += 3 {
		g.pictures[i] = g.picture()
	}
	g.pictures[0], g.pictures[pictures-1] = g.pictures[pictures-1], g.pictures[0]
}

// bytes lays the game out: things, words, pictures.
func (g *game) bytes() []byte {
	const record = 32
	addresses := make([]int, len(g.words))
	var text []byte
	for i, w := range g.words {
		addresses[i] = len(g.objects)*record + len(text)
		text = append(text, w...)
	}
	var out []byte
	for _, t := range g.objects {
		out = binary.LittleEndian.AppendUint16(out, t.kind)
		out = binary.LittleEndian.AppendUint16(out, t.flags)
		for _, v := range t.place {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(t.next*record))
		out = binary.LittleEndian.AppendUint32(out, uint32(addresses[t.word]))
		out = binary.LittleEndian.AppendUint32(out, t.health)
		out = binary.LittleEndian.AppendUint32(out, 0)
	}
	out = append(out, text...)
	for _, p := range g.pictures {
		out = append(out, p...)
	}
	return out
}
