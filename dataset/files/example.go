package files

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"wirelab/internal/seed"
)

// The example is the data file of a small game in two versions: objects with addresses of other
// objects, texts, and pictures. In the second version objects are inserted, so that the addresses
// of all later ones change; some texts are changed; a third of the pictures are replaced, and the
// first and the last one are exchanged.
const (
	objectCount   = 6000
	insertedCount = 24 // objects inserted in the second version
	wordCount     = 1200
	pictureCount  = 12
	pictureBytes  = 32 << 10 // bytes of a picture
)

// generateExample returns two versions of a file of about 600 KB, generated from the seed number.
func generateExample(number uint64) (old, new []byte) {
	rng := rand.New(seed.Tagged(number, "files"))
	g := &game{rng: rng}
	for range objectCount {
		g.objects = append(g.objects, g.newObject())
	}
	for i := range wordCount {
		g.words = append(g.words, g.newWord(i))
	}
	for range pictureCount {
		g.pictures = append(g.pictures, g.newPicture())
	}
	old = g.encode()
	g.makeSecondVersion()
	return old, g.encode()
}

// game is the content of the example.
type game struct {
	rng      *rand.Rand
	objects  []object
	words    []string
	pictures [][]byte
}

// object is an object of the game, a record of 32 bytes in the file.
type object struct {
	kind, flags uint16
	position    [3]int32
	next, word  int // indices of an object and of a text, stored as their addresses in the file
	health      uint32
}

// newObject returns a random object that refers to one of the first objectCount objects.
func (g *game) newObject() object {
	return object{kind: uint16(g.rng.IntN(40)), flags: 1 << g.rng.IntN(6),
		position: [3]int32{int32(g.rng.IntN(200_000)), int32(g.rng.IntN(200_000)), int32(g.rng.IntN(3000))},
		next:     g.rng.IntN(objectCount), word: g.rng.IntN(wordCount), health: 100}
}

// newWord returns a random text that begins with i.
func (g *game) newWord(i int) string {
	parts := []string{"a", "rusty", "golden", "sword", "of", "the", "shield", "ancient", "lamp", "key", "to", "door",
		"wooden", "moon", "river", "guard"}
	text := fmt.Sprintf("%d ", i)
	for range 4 + g.rng.IntN(6) {
		text += parts[g.rng.IntN(len(parts))] + " "
	}
	return text + "\n"
}

// newPicture returns a picture of 8 bits per pixel: a random walk, which like real pictures is
// smooth with some noise.
func (g *game) newPicture() []byte {
	b := make([]byte, pictureBytes)
	level := 128
	for i := range b {
		level = max(16, min(240, level+g.rng.IntN(7)-3))
		b[i] = byte(level)
	}
	return b
}

// makeSecondVersion changes the game to its second version: it inserts objects, replaces some texts and
// pictures, and exchanges two pictures.
func (g *game) makeSecondVersion() {
	insertAt := objectCount / 3 // after a third of the objects
	rest := append([]object{}, g.objects[insertAt:]...)
	g.objects = g.objects[:insertAt]
	for range insertedCount {
		g.objects = append(g.objects, g.newObject())
	}
	g.objects = append(g.objects, rest...)
	for i := range g.objects {
		if o := &g.objects[i]; o.next >= insertAt { // the object refers to one behind the inserted objects
			o.next += insertedCount
		}
	}
	for range wordCount / 40 { // up to 2.5 % of the texts
		i := g.rng.IntN(wordCount)
		g.words[i] = g.newWord(i)
	}
	for i := 1; i < pictureCount-1; i += 3 { // a third of the pictures
		g.pictures[i] = g.newPicture()
	}
	g.pictures[0], g.pictures[pictureCount-1] = g.pictures[pictureCount-1], g.pictures[0]
}

// encode returns the file: objects, texts, pictures. An object is its kind and flags (2 bytes each),
// position (3 x 4), address of the next object, address of its text, health and a zero (4 each), all
// little-endian.
func (g *game) encode() []byte {
	const record = 32
	addresses := make([]int, len(g.words))
	var text []byte
	for i, w := range g.words {
		addresses[i] = len(g.objects)*record + len(text)
		text = append(text, w...)
	}
	var out []byte
	for _, o := range g.objects {
		out = binary.LittleEndian.AppendUint16(out, o.kind)
		out = binary.LittleEndian.AppendUint16(out, o.flags)
		for _, v := range o.position {
			out = binary.LittleEndian.AppendUint32(out, uint32(v))
		}
		out = binary.LittleEndian.AppendUint32(out, uint32(o.next*record))
		out = binary.LittleEndian.AppendUint32(out, uint32(addresses[o.word]))
		out = binary.LittleEndian.AppendUint32(out, o.health)
		out = binary.LittleEndian.AppendUint32(out, 0)
	}
	out = append(out, text...)
	for _, p := range g.pictures {
		out = append(out, p...)
	}
	return out
}
