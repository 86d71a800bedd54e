package datagram

// fillFields counts the residuals of the fields' guesses into their distributions, as a coder walks
// through the samples.
func (t *trainer) fillFields() {
	counts := make([][guesses][classes][2][buckets]int64, len(t.m.fields))
	f, k := newFlow(t.m), newCoder(t.m, false)
	for i := range t.samples {
		s := &t.samples[i]
		past := f.before(s)
		if len(s.data) > maxBytes {
			continue
		}
		k.follow(s.data, past, func(v byte, bits uint) {
			w := &k.w
			w.gather()
			n := &w.num
			if n.active && n.part == n.f.units-1 {
				number := n.so | int64(v)
				c := &counts[t.m.places[w.at()].field]
				for j := range n.on {
					side, b, _ := sideOf(wrap(number-n.guess[j].pred, 1<<(n.f.bits-1)))
					c[j][n.guess[j].class][side][b]++
				}
			}
			n.leave(v)
		})
	}
	for i := range t.m.fields {
		f := &t.m.fields[i]
		for g := range f.count() {
			learnShares(&f.share[g], &counts[i][g])
			for c := range classes {
				for side := range 2 {
					f.shares(&f.share[g][c][side])
				}
			}
		}
		f.fill()
	}
}

// learnShares computes shares from counts: each bucket gets a little of its neighbours', and each
// class a little of all classes.
func learnShares(share *[classes][2][buckets]uint8, counts *[classes][2][buckets]int64) {
	var all [2][buckets]int64
	total := int64(0)
	for side := range all {
		for i := range buckets {
			v := int64(1) // in 1/50
			for c := range counts {
				v += 50 * counts[c][side][i]
				if i > 0 && i < buckets-1 {
					v += 5 * (counts[c][side][i-1] + counts[c][side][i+1])
				}
			}
			all[side][i] = v
			total += v
		}
	}
	for c := range counts {
		var n [2][buckets]int64
		sum := int64(0)
		for side := range n {
			for i := range buckets {
				n[side][i] = 50*counts[c][side][i] + 400*(all[side][i]<<16/total)>>16
				sum += n[side][i]
			}
		}
		for side := range n {
			for i := range buckets {
				share[c][side][i] = shareFrom(n[side][i], sum)
			}
		}
	}
}
