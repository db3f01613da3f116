package world

import "math/rand/v2"

// mix returns a 64-bit hash of numbers.
func mix(parts ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, p := range parts {
		h ^= p + 0x9e3779b97f4a7c15 + h<<6 + h>>2
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

// mixText returns a 64-bit hash of a text.
func mixText(s string) uint64 {
	h := uint64(len(s))
	for _, b := range []byte(s) {
		h = mix(h, uint64(b))
	}
	return h
}

// dice is a random generator with helpers for invented markets.
type dice struct{ *rand.Rand }

// roll returns a generator whose seed is the hash of parts. Equal parts produce equal markets on every machine.
func roll(parts ...uint64) *dice { return &dice{rand.New(rand.NewPCG(mix(parts...), 0))} }

func (d *dice) between(lo, hi int) int { return lo + d.IntN(hi-lo+1) }

func (d *dice) chance(p float64) bool { return d.Float64() < p }

// some returns n distinct random elements of words.
func (d *dice) some(words []string, n int) []string {
	out := make([]string, n)
	for i, place := range d.Perm(len(words))[:n] {
		out[i] = words[place]
	}
	return out
}
