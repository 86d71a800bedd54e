package netcode

import (
	"math"
	"testing"
)

// weights are the frequencies of bytes from which id Software derived the code (msg_hData in
// qcommon/msg.c of ioquake3).
var weights = [256]int{
	250315, 41193, 6292, 7106, 3730, 3750, 6110, 23283, 33317, 6950, 7838, 9714, 9257, 17259, 3949, 1778,
	8288, 1604, 1590, 1663, 1100, 1213, 1238, 1134, 1749, 1059, 1246, 1149, 1273, 4486, 2805, 3472,
	21819, 1159, 1670, 1066, 1043, 1012, 1053, 1070, 1726, 888, 1180, 850, 960, 780, 1752, 3296,
	10630, 4514, 5881, 2685, 4650, 3837, 2093, 1867, 2584, 1949, 1972, 940, 1134, 1788, 1670, 1206,
	5719, 6128, 7222, 6654, 3710, 3795, 1492, 1524, 2215, 1140, 1355, 971, 2180, 1248, 1328, 1195,
	1770, 1078, 1264, 1266, 1168, 965, 1155, 1186, 1347, 1228, 1529, 1600, 2617, 2048, 2546, 3275,
	2410, 3585, 2504, 2800, 2675, 6146, 3663, 2840, 14253, 3164, 2221, 1687, 3208, 2739, 3512, 4796,
	4091, 3515, 5288, 4016, 7937, 6031, 5360, 3924, 4892, 3743, 4566, 4807, 5852, 6400, 6225, 8291,
	23243, 7838, 7073, 8935, 5437, 4483, 3641, 5256, 5312, 5328, 5370, 3492, 2458, 1694, 1821, 2121,
	1916, 1149, 1516, 1367, 1236, 1029, 1258, 1104, 1245, 1006, 1149, 1025, 1241, 952, 1287, 997,
	1713, 1009, 1187, 879, 1099, 929, 1078, 951, 1656, 930, 1153, 1030, 1262, 1062, 1214, 1060,
	1621, 930, 1106, 912, 1034, 892, 1158, 990, 1175, 850, 1121, 903, 1087, 920, 1144, 1056,
	3462, 2240, 4397, 12136, 7758, 1345, 1307, 3278, 1950, 886, 1023, 1112, 1077, 1042, 1061, 1071,
	1484, 1001, 1096, 915, 1052, 995, 1070, 876, 1111, 851, 1059, 805, 1112, 923, 1103, 817,
	1899, 1872, 976, 841, 1127, 956, 1159, 950, 7791, 954, 1289, 933, 1127, 3207, 1020, 927,
	1355, 768, 1040, 745, 952, 805, 1073, 740, 1013, 805, 1008, 796, 996, 1057, 11457, 13504,
}

const nodes = 2*len(weights) + 1 // of the whole tree, with the leaf that stands for what never came

// The code words are not those of a static Huffman code for the weights, but of the adaptive Huffman
// tree after each byte was added as often as its weight.
func TestWordsAreDerived(t *testing.T) {
	var grown tree
	grown.grow()
	for s, w := range codeWords {
		if got := grown.word(grown.leaf[s]); got != w {
			t.Errorf("byte %d: word %#x, expected %#x", s, got, w)
		}
	}
}

// tree is an adaptive Huffman tree (Faller, Gallager, Knuth) as the engine has it. Nodes are
// numbered in the order of creation; 0 is the leaf for bytes that have not occurred yet.
type tree struct {
	weight        [nodes]int
	parent, place [nodes]int // the root's parent is -1; place is where the node is in list
	child         [nodes][2]int
	list          [nodes]int // by weight, lowest first
	made          int
	leaf          [256]int
}

// grow adds each byte as often as its weight.
func (t *tree) grow() {
	t.parent[0], t.made = -1, 1
	for s, n := range weights {
		t.add(s)
		for n--; n > 0; {
			if k := min(n, t.room(t.leaf[s])); k > 0 {
				n -= k
				t.raise(t.leaf[s], k)
				continue
			}
			t.increment(t.leaf[s])
			n--
		}
	}
}

// add adds a byte that has not occurred: the leaf for such bytes splits in two.
func (t *tree) add(s int) {
	inner, leaf := t.made, t.made+1
	t.made += 2
	copy(t.list[3:t.made], t.list[1:t.made-2])
	t.list[1], t.list[2] = leaf, inner
	for i := 1; i < t.made; i++ {
		t.place[t.list[i]] = i
	}
	above := t.parent[0]
	if above >= 0 {
		t.child[above][t.side(0)] = inner
	}
	t.child[inner] = [2]int{0, leaf}
	t.parent[inner], t.parent[leaf], t.parent[0] = above, inner, inner
	t.weight[inner], t.weight[leaf] = 1, 1
	t.leaf[s] = leaf
	if above >= 0 {
		t.increment(above)
	}
}

// side returns which child of its parent a node is.
func (t *tree) side(n int) int {
	if t.child[t.parent[n]][1] == n {
		return 1
	}
	return 0
}

// room returns how often a node can be incremented before it or one of its ancestors has to move in the
// list, which is until its weight equals that of the next one. It makes grow fast.
func (t *tree) room(n int) int {
	least := math.MaxInt
	for ; t.parent[n] >= 0; n = t.parent[n] {
		least = min(least, t.weight[t.list[t.place[n]+1]]-t.weight[n])
	}
	return least
}

// raise increments a node k times, at most as often as room returns.
func (t *tree) raise(n, k int) {
	for ; n >= 0; n = t.parent[n] {
		t.weight[n] += k
	}
}

// increment adds one to the weights of a node and its ancestors. To keep the list sorted by weight, the
// node first trades places with the last node of its weight.
func (t *tree) increment(n int) {
	last := t.place[n]
	for last+1 < t.made && t.weight[t.list[last+1]] == t.weight[n] {
		last++
	}
	if other := t.list[last]; other != n {
		if other != t.parent[n] {
			t.swap(n, other)
		}
		t.trade(n, other)
	}
	t.weight[n]++
	above := t.parent[n]
	if above < 0 {
		return
	}
	t.increment(above)
	if t.place[n] == t.place[above]+1 {
		t.trade(n, above)
	}
}

// swap exchanges two nodes with their subtrees.
func (t *tree) swap(a, b int) {
	up, side := t.parent[a], t.side(a)
	t.child[t.parent[b]][t.side(b)] = a
	t.child[up][side] = b
	t.parent[a], t.parent[b] = t.parent[b], up
}

// trade exchanges the positions of two nodes in the list.
func (t *tree) trade(a, b int) {
	i, j := t.place[a], t.place[b]
	t.list[i], t.list[j] = b, a
	t.place[a], t.place[b] = j, i
}

// word returns the path from the root to a leaf as an entry of codeWords.
func (t *tree) word(n int) uint16 {
	bits, size := uint16(0), uint16(0)
	for ; t.parent[n] >= 0; n = t.parent[n] {
		bits = bits<<1 | uint16(t.side(n))
		size++
	}
	return bits<<4 | size
}
